package dev.kvasir.template;

import dev.kvasir.template.PythonValues.Callable;
import dev.kvasir.template.PythonValues.Dict;
import dev.kvasir.template.PythonValues.Markup;
import dev.kvasir.template.PythonValues.Namespace;
import dev.kvasir.template.PythonValues.Sequence;
import dev.kvasir.template.PythonValues.Undefined;
import dev.kvasir.template.Renderer.Loop;
import dev.kvasir.template.Renderer.Macro;
import java.util.ArrayList;
import java.util.List;

/**
 * Implements {@code a.b}, {@code a[b]} and slices. As in Jinja, a dot prefers a method to an item,
 * and brackets the reverse. So {@code schema.items} is the method and {@code schema['items']} the
 * entry.
 */
final class Subscript {
  private static final Object ABSENT = new Object();

  private Subscript() {}

  static Object attribute(Object target, String name) {
    Object owner = owner(target);
    Object found = member(owner, name);
    if (found == ABSENT) {
      found = entry(owner, name);
    }
    return found == ABSENT ? Undefined.member(owner, "'" + name + "'") : found;
  }

  static Object item(Object target, Object key) {
    Object owner = owner(target);
    Object plain = Markup.plain(key);
    Object found = entry(owner, plain);
    if (found == ABSENT && plain instanceof String name) {
      found = member(owner, name);
    }
    return found == ABSENT ? Undefined.member(owner, "item " + PythonText.repr(plain)) : found;
  }

  private static Object owner(Object target) {
    if (target instanceof Undefined undefined) {
      throw undefined.misused();
    }
    return Markup.plain(target);
  }

  private static Object member(Object owner, String name) {
    return switch (owner) {
      case Namespace namespace -> namespace.attributes().find(name, ABSENT);
      case Loop loop -> loop.attribute(name, ABSENT);
      case Macro macro when name.equals("name") -> macro.name();
      case null -> ABSENT;
      case Object other -> {
        Callable method = Methods.bind(other, name);
        yield method == null ? ABSENT : method;
      }
    };
  }

  private static Object entry(Object owner, Object key) {
    return switch (owner) {
      case Dict dict -> key instanceof Dict ? ABSENT : dict.find(key, ABSENT);
      case Namespace namespace -> namespace.attributes().find(key, ABSENT);
      case Sequence sequence when sequence.kind().indexed() -> {
        int at = position(key, sequence.elements().size());
        yield at < 0 ? ABSENT : sequence.elements().get(at);
      }
      case String text -> {
        int at = position(key, text.codePointCount(0, text.length()));
        yield at < 0
            ? ABSENT
            : Character.toString(text.codePointAt(text.offsetByCodePoints(0, at)));
      }
      case null, default -> ABSENT;
    };
  }

  /** Returns the position of an element, or -1 if the key is not an index of one. */
  private static int position(Object key, int size) {
    Long index = index(key);
    if (index == null || index >= size || index < -size) {
      return -1;
    }
    return (int) (index < 0 ? index + size : index);
  }

  private static Long index(Object key) {
    return switch (key) {
      case Long number -> number;
      case Boolean truth -> truth ? 1L : 0L;
      case null, default -> null;
    };
  }

  /** Returns {@code target[start:stop:step]}; an omitted bound is {@code null}. */
  static Object slice(Object target, Object start, Object stop, Object step, RenderBudget budget) {
    switch (owner(target)) {
      case String text -> {
        budget.chargeText(text.length());
        int[] points = text.codePoints().toArray();
        var out = new StringBuilder();
        for (int at : positions(points.length, start, stop, step)) {
          out.appendCodePoint(points[at]);
        }
        return out.toString();
      }
      case Sequence sequence when sequence.kind().indexed() -> {
        List<Object> elements = sequence.elements();
        budget.chargeElements(elements.size());
        var out = new ArrayList<>();
        for (int at : positions(elements.size(), start, stop, step)) {
          out.add(elements.get(at));
        }
        return new Sequence(sequence.kind(), out);
      }
      case null, default -> throw EvaluationException.ofType(target, "cannot be sliced");
    }
  }

  private static int[] positions(int size, Object start, Object stop, Object step) {
    long stride = bound(step, 1);
    if (stride == 0) {
      throw new EvaluationException("a slice step of zero");
    }
    boolean forward = stride > 0;
    long lowest = forward ? 0 : -1;
    long highest = forward ? size : size - 1;
    long from = clamp(bound(start, forward ? 0 : Long.MAX_VALUE), size, lowest, highest);
    long to =
        stop == null ? (forward ? highest : lowest) : clamp(bound(stop, 0), size, lowest, highest);
    long span = forward ? to - from : from - to;
    // A stride longer than the span reaches no second element; the cap avoids overflow.
    long pace = Math.min(Math.abs(Math.max(stride, -Long.MAX_VALUE)), size + 1L);
    var positions = new int[span <= 0 ? 0 : (int) ((span - 1) / pace + 1)];
    for (int i = 0; i < positions.length; i++) {
      positions[i] = (int) (from + (forward ? i * pace : -i * pace));
    }
    return positions;
  }

  private static long bound(Object value, long fallback) {
    if (value == null) {
      return fallback;
    }
    Long index = index(value);
    if (index == null) {
      throw EvaluationException.expected("a slice bound must be an integer", value);
    }
    return index;
  }

  private static long clamp(long index, int size, long lowest, long highest) {
    long absolute = index < 0 ? index + size : index;
    return Math.clamp(absolute, lowest, highest);
  }
}
