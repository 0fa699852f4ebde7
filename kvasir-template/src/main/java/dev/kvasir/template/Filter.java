package dev.kvasir.template;

/** A filter: {@code value|filter(arguments)}. */
@FunctionalInterface
interface Filter {
  Object apply(Object value, Arguments arguments, RenderBudget budget);
}
