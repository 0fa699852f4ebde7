package dev.kvasir;

import dev.kvasir.engine.RequestListener;

/** Follows a generation while it runs, on the thread that asked for it. */
@FunctionalInterface
public interface GenerationListener extends RequestListener {}
