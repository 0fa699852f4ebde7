package dev.kvasir.template;

/** A value that a template may call: a global function, a bound method or a macro. */
@FunctionalInterface
interface Callable {
  Object call(Arguments arguments);
}
