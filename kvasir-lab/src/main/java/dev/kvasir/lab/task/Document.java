package dev.kvasir.lab.task;

import java.util.List;

/** A long text and what is asked about it, each question by itself. */
public record Document(String text, List<Question> questions) {}
