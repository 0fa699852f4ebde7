package dev.kvasir.template;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** An ordered sequence of values with its Python type. */
record Sequence(Kind kind, List<Object> elements) {
  enum Kind {
    LIST("list"),
    TUPLE("tuple"),
    RANGE("range"),
    KEYS("dict_keys"),
    VALUES("dict_values"),
    ITEMS("dict_items"),
    /**
     * The result of a lazy filter: always true, without a length, and empty after one iteration.
     */
    GENERATOR("generator");

    final String pythonName;

    Kind(String python) {
      this.pythonName = python;
    }

    boolean indexed() {
      return this == LIST || this == TUPLE || this == RANGE;
    }
  }

  static Sequence list(List<Object> elements) {
    return new Sequence(Kind.LIST, elements);
  }

  static Sequence tuple(Object... elements) {
    return new Sequence(Kind.TUPLE, new ArrayList<>(Arrays.asList(elements)));
  }

  static Sequence generator(List<Object> elements) {
    return new Sequence(Kind.GENERATOR, elements);
  }

  /** Returns the elements of one iteration. */
  List<Object> iterate() {
    var walked = new ArrayList<>(elements);
    if (kind == Kind.GENERATOR) {
      elements.clear();
    }
    return walked;
  }

  /** Returns whether two lists are the same object, as in Python's {@code is}. */
  boolean sameAs(Sequence other) {
    return elements == other.elements;
  }
}
