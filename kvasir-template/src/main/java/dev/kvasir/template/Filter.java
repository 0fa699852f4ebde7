package dev.kvasir.template;

/** One {@code value|filter(arguments)}. */
@FunctionalInterface
interface Filter {
  Object apply(Object value, Arguments arguments, RenderBudget budget);
}
