package dev.kvasir.template;

/** The methods of Python's strings, lists and dictionaries. */
final class BuiltinMethods {
  private BuiltinMethods() {}

  /** Returns the method {@code name} of {@code target}, or null if its type has none. */
  static Callable bind(Object target, String name, RenderBudget budget) {
    return switch (target) {
      case String text -> {
        var method = StringMethods.TABLE.get(name);
        yield method == null ? null : arguments -> method.call(text, arguments, budget);
      }
      case Dict dict -> {
        var method = DictMethods.TABLE.get(name);
        yield method == null ? null : arguments -> method.call(dict, arguments, budget);
      }
      case Sequence sequence when sequence.kind().indexed() -> {
        boolean changes = ListMethods.CHANGING.containsKey(name);
        var method =
            changes && sequence.kind() == Sequence.Kind.LIST
                ? ListMethods.CHANGING.get(name)
                : ListMethods.READING.get(name);
        yield method == null ? null : arguments -> method.call(sequence, arguments, budget);
      }
      default -> null;
    };
  }

  /** A method of the Java type that represents a Python type. */
  @FunctionalInterface
  interface Method<T> {
    Object call(T self, Arguments arguments, RenderBudget budget);
  }
}
