package dev.kvasir.template;

/** What {@code namespace(...)} gives: the one object whose attributes {@code set} may change. */
record Namespace(Dict attributes) {}
