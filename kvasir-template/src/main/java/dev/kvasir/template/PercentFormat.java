package dev.kvasir.template;

/** Implements {@code 'pattern' % values}. */
final class PercentFormat {
  private final String pattern;
  private final Object values;
  private final RenderBudget budget;
  private final StringBuilder out = new StringBuilder();
  private int position;
  private int used;

  private PercentFormat(String pattern, Object values, RenderBudget budget) {
    this.pattern = pattern;
    this.values = values;
    this.budget = budget;
  }

  static String format(String pattern, Object values, RenderBudget budget) {
    var format = new PercentFormat(pattern, values, budget);
    format.run();
    return budget.produced(format.out.toString());
  }

  private void run() {
    while (position < pattern.length()) {
      char character = pattern.charAt(position++);
      if (character != '%') {
        out.append(character);
      } else if (peek() == '%') {
        out.append('%');
        position++;
      } else {
        directive();
      }
    }
    boolean all = values instanceof Dict || used == count();
    if (!all) {
      throw new EvaluationException("a format of %d values was given %d".formatted(used, count()));
    }
  }

  private void directive() {
    Object named = peek() == '(' ? named() : BoundArguments.MISSING;
    boolean left = false;
    boolean zero = false;
    boolean alternate = false;
    String sign = "";
    for (; "-0# +".indexOf(peek()) >= 0; position++) {
      left |= peek() == '-';
      zero |= peek() == '0';
      alternate |= peek() == '#';
      sign = peek() == '+' ? "+" : peek() == ' ' && sign.isEmpty() ? " " : sign;
    }
    long width = number(0);
    int precision = -1;
    if (peek() == '.') {
      position++;
      precision = (int) number(0);
    }
    char type = peek();
    position++;
    Object value = named == BoundArguments.MISSING ? next() : named;
    boolean quoted = type == 'r' || type == 'a';
    boolean textual = quoted || type == 's' || type == 'c';
    char alignment = left ? '<' : zero && !textual ? '=' : '>';
    String fill = zero && !left && !textual ? "0" : " ";
    var spec =
        new FormatSpec(
            fill, alignment, sign, alternate, width, false, precision, quoted ? 's' : type);
    if (type == '%' || type == 'b') {
      throw new EvaluationException("the unsupported format '%%%s'".formatted(type));
    }
    out.append(spec.format(quoted ? PythonText.repr(value) : value, budget));
    budget.chargeText(out.length());
  }

  private Object named() {
    int end = pattern.indexOf(')', position);
    if (end < 0 || !(values instanceof Dict dict)) {
      throw new EvaluationException("a format with names needs a dict");
    }
    String key = pattern.substring(position + 1, end);
    position = end + 1;
    if (!dict.contains(key)) {
      throw new EvaluationException("a format names '" + key + "', which was not given");
    }
    return dict.find(key, null);
  }

  private long number(long fallback) {
    long number = fallback;
    for (; peek() >= '0' && peek() <= '9'; position++) {
      number = Math.min(number * 10 + peek() - '0', Integer.MAX_VALUE);
    }
    return number;
  }

  private char peek() {
    return position < pattern.length() ? pattern.charAt(position) : '\0';
  }

  private int count() {
    return values instanceof Sequence tuple && tuple.kind() == Sequence.Kind.TUPLE
        ? tuple.elements().size()
        : 1;
  }

  private Object next() {
    if (used >= count()) {
      throw new EvaluationException("a format of more values than the %d given".formatted(count()));
    }
    int index = used++;
    return values instanceof Sequence tuple && tuple.kind() == Sequence.Kind.TUPLE
        ? tuple.elements().get(index)
        : values;
  }
}
