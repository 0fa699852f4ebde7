package dev.kvasir.template;

/**
 * The result of {@code namespace(...)}: the only object with attributes that {@code set} can
 * change.
 */
record Namespace(Dict attributes) {}
