package dev.kvasir.template;

import java.util.List;

/** The {@code loop} variable of a for loop. */
final class Loop {
  private final List<Object> elements;
  private int index;
  private List<Object> changing;

  Loop(List<Object> elements) {
    this.elements = elements;
  }

  void advanceTo(int index) {
    this.index = index;
  }

  int length() {
    return elements.size();
  }

  Object attribute(String name, Object absent) {
    return switch (name) {
      case "index" -> index + 1L;
      case "index0" -> (long) index;
      case "revindex" -> (long) elements.size() - index;
      case "revindex0" -> elements.size() - index - 1L;
      case "first" -> index == 0;
      case "last" -> index == elements.size() - 1;
      case "length" -> (long) elements.size();
      // Only recursive loops, which are not supported, have a greater depth.
      case "depth" -> 1L;
      case "depth0" -> 0L;
      case "previtem" ->
          index > 0 ? elements.get(index - 1) : new Undefined("there is no previous item");
      case "nextitem" ->
          index + 1 < elements.size()
              ? elements.get(index + 1)
              : new Undefined("there is no next item");
      case "cycle" -> (Callable) this::cycle;
      case "changed" -> (Callable) this::changed;
      default -> absent;
    };
  }

  private Object cycle(Arguments arguments) {
    List<Object> choices = arguments.positional();
    if (choices.isEmpty()) {
      throw new EvaluationException("loop.cycle needs an item to choose");
    }
    return choices.get(index % choices.size());
  }

  private Object changed(Arguments arguments) {
    List<Object> now = arguments.positional();
    boolean same =
        changing != null && PythonComparison.equal(Sequence.list(changing), Sequence.list(now));
    changing = now;
    return !same;
  }
}
