package dev.kvasir.template;

import dev.kvasir.template.Arguments.Bound;
import dev.kvasir.template.PythonValues.Dict;
import dev.kvasir.template.PythonValues.Markup;
import dev.kvasir.template.PythonValues.Sequence;
import dev.kvasir.template.PythonValues.Undefined;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/** The {@code tojson} filter of chat templates: Python's {@code json.dumps}. */
final class Json {
  private final StringBuilder out = new StringBuilder();
  private final boolean ascii;
  private final boolean sorted;
  private final String indent;
  private final String itemSeparator;
  private final String keySeparator;

  private Json(Bound options, RenderBudget budget) {
    ascii = options.flag(0, false);
    indent = indent(options, budget);
    sorted = options.flag(3, false);
    if (options.isGiven(2)) {
      List<Object> separators = PythonValues.iterate(options.value(2), budget);
      if (separators.size() != 2) {
        throw new EvaluationException("tojson expects two separators, found " + separators.size());
      }
      itemSeparator = PythonText.str(separators.get(0));
      keySeparator = PythonText.str(separators.get(1));
    } else {
      itemSeparator = indent == null ? ", " : ",";
      keySeparator = ": ";
    }
  }

  static String dump(Object value, Arguments arguments) {
    var options = arguments.bind("tojson", "ensure_ascii", "indent", "separators", "sort_keys");
    var json = new Json(options, arguments.budget());
    json.write(value, 0);
    return arguments.budget().produced(json.out.toString());
  }

  private static String indent(Bound options, RenderBudget budget) {
    return switch (options.value(1, null)) {
      case null -> null;
      case String text -> text;
      case Object _ -> budget.repeat(" ", options.integer(1));
    };
  }

  private void write(Object value, int depth) {
    RenderBudget.checkDepth(depth, out);
    switch (Markup.plain(value)) {
      case String text -> quote(text);
      case Sequence list
          when list.kind() == Sequence.Kind.LIST || list.kind() == Sequence.Kind.TUPLE ->
          write(list.elements(), depth);
      case Dict dict -> write(dict, depth);
      case Undefined undefined -> throw undefined.misused();
      case null, default -> out.append(scalar(value));
    }
  }

  private static String scalar(Object value) {
    return switch (value) {
      case null -> "null";
      case Boolean truth -> truth.toString();
      case Double number when Double.isFinite(number) -> PythonText.number(number);
      case Number number -> number.toString();
      case Object other -> throw EvaluationException.ofType(other, "has no JSON form");
    };
  }

  private void write(List<Object> elements, int depth) {
    out.append('[');
    for (int i = 0; i < elements.size(); i++) {
      out.append(i == 0 ? "" : itemSeparator);
      newLine(depth + 1);
      write(elements.get(i), depth + 1);
    }
    if (!elements.isEmpty()) {
      newLine(depth);
    }
    out.append(']');
  }

  private void write(Dict dict, int depth) {
    List<Dict.Entry> entries = dict.entries();
    if (sorted) {
      entries =
          entries.stream()
              .sorted(Comparator.comparing(Dict.Entry::key, Operators::compare))
              .toList();
    }
    out.append('{');
    String separator = "";
    for (var entry : entries) {
      out.append(separator);
      newLine(depth + 1);
      quote(entry.key() instanceof String key ? key : scalar(entry.key()));
      out.append(keySeparator);
      write(entry.value(), depth + 1);
      separator = itemSeparator;
    }
    if (!entries.isEmpty()) {
      newLine(depth);
    }
    out.append('}');
  }

  private void newLine(int depth) {
    if (indent != null) {
      out.append('\n');
      IntStream.range(0, depth).forEach(_ -> out.append(indent));
    }
  }

  private void quote(String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char character = text.charAt(i);
      switch (character) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        case '\b' -> out.append("\\b");
        case '\f' -> out.append("\\f");
        default -> {
          if (character < ' ' || (ascii && character > '~')) {
            out.append("\\u%04x".formatted((int) character));
          } else {
            out.append(character);
          }
        }
      }
    }
    out.append('"');
  }
}
