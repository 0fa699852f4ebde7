package dev.kvasir;

import dev.kvasir.engine.RequestListener;

/** Follows a generation on the thread that started it. */
@FunctionalInterface
public interface GenerationListener extends RequestListener {}
