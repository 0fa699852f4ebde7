package dev.kvasir.template;

/** The methods of Python's strings, lists and dictionaries. */
final class BuiltinMethods {
  private BuiltinMethods() {}

  /** The method {@code name} of {@code target}, or null where the type has none of that name. */
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

  /** A method of the Java type that stands for a Python one. */
  @FunctionalInterface
  interface Method<T> {
    Object call(T self, Arguments arguments, RenderBudget budget);
  }
}
