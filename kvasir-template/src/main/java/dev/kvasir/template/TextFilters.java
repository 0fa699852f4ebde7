package dev.kvasir.template;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Filters that return text. */
final class TextFilters {
  static final Map<String, Filter> TABLE =
      Map.ofEntries(
          Map.entry("trim", TextFilters::trim),
          Map.entry("upper", plain("upper", text -> text.toUpperCase(Locale.ROOT))),
          Map.entry("lower", plain("lower", text -> text.toLowerCase(Locale.ROOT))),
          Map.entry("title", plain("title", TextFilters::title)),
          Map.entry("capitalize", plain("capitalize", PythonStrings::capitalize)),
          Map.entry("string", plain("string", text -> text)),
          Map.entry("replace", TextFilters::replace),
          Map.entry("join", TextFilters::join),
          Map.entry("indent", TextFilters::indent),
          Map.entry("format", TextFilters::format),
          Map.entry("safe", (value, _, _) -> new Markup(PythonText.str(value))),
          Map.entry("escape", TextFilters::escape),
          Map.entry("e", TextFilters::escape));

  private TextFilters() {}

  private static Filter plain(String name, UnaryOperator<String> change) {
    return (value, arguments, budget) -> {
      arguments.bind(name);
      return budget.produced(change.apply(PythonText.str(value)));
    };
  }

  private static Object trim(Object value, Arguments arguments, RenderBudget budget) {
    BoundArguments bound = arguments.bind("trim", "chars");
    String text = PythonText.str(value);
    return budget.produced(Whitespace.strip(text, PythonStrings.members(bound.text(0, null))));
  }

  private static Object escape(Object value, Arguments arguments, RenderBudget budget) {
    return new Markup(budget.produced(Markup.escape(PythonText.str(value))));
  }

  private static Object replace(Object value, Arguments arguments, RenderBudget budget) {
    BoundArguments bound = arguments.bind("replace", "old", "new", "count");
    String from = PythonText.str(bound.value(0));
    String to = PythonText.str(bound.value(1));
    return PythonStrings.replace(PythonText.str(value), from, to, bound.integer(2, -1), budget);
  }

  private static Object join(Object value, Arguments arguments, RenderBudget budget) {
    BoundArguments bound = arguments.bind("join", "d", "attribute");
    List<Object> elements = PythonValues.iterate(value, budget);
    if (bound.isGiven(1)) {
      elements = AttributePath.of(bound.value(1)).of(elements, budget);
    }
    return PythonStrings.join(PythonText.str(bound.value(0, "")), elements, budget);
  }

  private static Object indent(Object value, Arguments arguments, RenderBudget budget) {
    BoundArguments bound = arguments.bind("indent", "width", "first", "blank");
    String indention =
        bound.value(0, 4L) instanceof String text ? text : budget.repeat(" ", bound.integer(0, 4));
    boolean blank = bound.flag(2, false);
    List<Object> lines = PythonStrings.lines(PythonText.str(value) + "\n", false);
    var out = new StringBuilder(bound.flag(1, false) ? indention : "");
    for (int i = 0; i < lines.size(); i++) {
      String line = (String) lines.get(i);
      out.append(i == 0 ? "" : "\n");
      out.append(i > 0 && (blank || !line.isEmpty()) ? indention : "").append(line);
      budget.chargeText(indention.length() + line.length());
    }
    return out.toString();
  }

  private static Object format(Object value, Arguments arguments, RenderBudget budget) {
    Object inputs = new Sequence(Sequence.Kind.TUPLE, new ArrayList<>(arguments.positional()));
    if (!arguments.named().isEmpty()) {
      var named = new Dict();
      arguments.named().forEach(named::put);
      inputs = named;
    }
    return PercentFormat.format(PythonText.str(value), inputs, budget);
  }

  /** Unlike Python's title(), a word starts after white space, a dash or an opening bracket. */
  private static String title(String text) {
    var out = new StringBuilder();
    boolean start = true;
    for (int point : text.codePoints().toArray()) {
      String letter = Character.toString(point);
      out.append(start ? letter.toUpperCase(Locale.ROOT) : letter.toLowerCase(Locale.ROOT));
      start = Whitespace.is(point) || "-({[<".indexOf(point) >= 0;
    }
    return out.toString();
  }
}
