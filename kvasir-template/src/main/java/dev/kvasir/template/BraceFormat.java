package dev.kvasir.template;

/** Implements {@code 'pattern'.format(values)}; nested formats are not supported. */
final class BraceFormat {
  private final String pattern;
  private final Arguments arguments;
  private final RenderBudget budget;
  private final StringBuilder out = new StringBuilder();
  private int position;
  private int used;

  private BraceFormat(String pattern, Arguments arguments, RenderBudget budget) {
    this.pattern = pattern;
    this.arguments = arguments;
    this.budget = budget;
  }

  static String format(String pattern, Arguments arguments, RenderBudget budget) {
    var format = new BraceFormat(pattern, arguments, budget);
    while (format.position < pattern.length()) {
      format.next();
    }
    return budget.produced(format.out.toString());
  }

  private void next() {
    char character = pattern.charAt(position++);
    boolean doubled = position < pattern.length() && pattern.charAt(position) == character;
    if (character != '{' && character != '}') {
      out.append(character);
    } else if (doubled) {
      out.append(character);
      position++;
    } else if (character == '}') {
      throw new EvaluationException("a single '}' in a format");
    } else {
      int end = pattern.indexOf('}', position);
      if (end < 0 || pattern.substring(position, end).indexOf('{') >= 0) {
        throw new EvaluationException("an unclosed or nested '{' in a format");
      }
      out.append(field(pattern.substring(position, end)));
      budget.chargeText(out.length());
      position = end + 1;
    }
  }

  private String field(String field) {
    int colon = field.indexOf(':');
    String head = colon < 0 ? field : field.substring(0, colon);
    int mark = head.indexOf('!');
    Object value = value(mark < 0 ? head : head.substring(0, mark));
    switch (mark < 0 ? "" : head.substring(mark + 1)) {
      case "" -> {}
      case "s" -> value = PythonText.str(value);
      case "r", "a" -> value = PythonText.repr(value);
      default ->
          throw new EvaluationException("the unsupported format conversion in '{" + field + "}'");
    }
    return colon < 0
        ? PythonText.str(value)
        : spec(field.substring(colon + 1)).format(value, budget);
  }

  private Object value(String path) {
    int end = 0;
    while (end < path.length() && path.charAt(end) != '.' && path.charAt(end) != '[') {
      end++;
    }
    String first = path.substring(0, end);
    Object value = first.isEmpty() ? positional(used++) : named(first);
    int at = end;
    while (at < path.length()) {
      boolean item = path.charAt(at) == '[';
      int stop = at + 1;
      while (stop < path.length() && (item ? "]" : ".[").indexOf(path.charAt(stop)) < 0) {
        stop++;
      }
      String key = path.substring(at + 1, stop);
      Long index = item ? index(key) : null;
      value =
          item
              ? Subscript.item(value, index == null ? key : index, budget)
              : Subscript.attribute(value, key, budget);
      at = item ? stop + 1 : stop;
    }
    return value;
  }

  private Object named(String name) {
    Long index = index(name);
    if (index != null) {
      return positional(index);
    }
    if (!arguments.named().containsKey(name)) {
      throw new EvaluationException("a format names '" + name + "', which was not given");
    }
    return arguments.named().get(name);
  }

  private Object positional(long index) {
    if (index >= arguments.positional().size()) {
      throw new EvaluationException(
          "a format of more values than the " + arguments.positional().size() + " given");
    }
    return arguments.positional().get((int) index);
  }

  private static Long index(String text) {
    boolean digits = !text.isEmpty() && text.length() < 10;
    return digits && text.chars().allMatch(c -> c >= '0' && c <= '9') ? Long.valueOf(text) : null;
  }

  /** Parses {@code [[fill]align][sign][#][0][width][,][.precision][type]}. */
  private static FormatSpec spec(String text) {
    var spec = new SpecReader(text);
    String fill = " ";
    char alignment = 0;
    int second = text.isEmpty() ? 0 : text.offsetByCodePoints(0, 1);
    if (second > 0 && second < text.length() && "<>^=".indexOf(text.charAt(second)) >= 0) {
      fill = text.substring(0, second);
      alignment = text.charAt(second);
      spec.at = second + 1;
    } else if (spec.peek() != 0 && "<>^=".indexOf(spec.peek()) >= 0) {
      alignment = spec.take();
    }
    String sign = "";
    if (spec.peek() == '+' || spec.peek() == ' ' || spec.peek() == '-') {
      char given = spec.take();
      sign = given == '-' ? "" : String.valueOf(given);
    }
    boolean alternate = spec.took('#');
    if (spec.took('0') && alignment == 0) {
      fill = "0";
      alignment = '=';
    }
    long width = spec.number();
    boolean grouped = spec.took(',');
    int precision = spec.took('.') ? (int) spec.number() : -1;
    char type = spec.peek() == 0 ? 0 : spec.take();
    if (spec.peek() != 0) {
      throw new EvaluationException("the unsupported format '" + text + "'");
    }
    return new FormatSpec(fill, alignment, sign, alternate, width, grouped, precision, type);
  }

  private static final class SpecReader {
    private final String text;
    private int at;

    SpecReader(String text) {
      this.text = text;
    }

    char peek() {
      return at < text.length() ? text.charAt(at) : 0;
    }

    char take() {
      return text.charAt(at++);
    }

    boolean took(char expected) {
      boolean found = peek() == expected;
      at += found ? 1 : 0;
      return found;
    }

    long number() {
      long number = 0;
      for (; peek() >= '0' && peek() <= '9'; at++) {
        number = Math.min(number * 10 + peek() - '0', Integer.MAX_VALUE);
      }
      return number;
    }
  }
}
