package dev.kvasir.lab.task;

import java.util.List;

/** A long text with independent questions about it. */
public record Document(String text, List<Question> questions) {}
