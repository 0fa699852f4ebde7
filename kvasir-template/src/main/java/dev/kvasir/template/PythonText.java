package dev.kvasir.template;

import dev.kvasir.template.PythonValues.Dict;
import dev.kvasir.template.PythonValues.Markup;
import dev.kvasir.template.PythonValues.Namespace;
import dev.kvasir.template.PythonValues.Sequence;
import dev.kvasir.template.PythonValues.Undefined;
import java.math.BigDecimal;
import java.util.List;

/** Formats values like Python's {@code str()} and {@code repr()}. */
final class PythonText {
  private PythonText() {}

  static String str(Object value) {
    return switch (value) {
      case String text -> text;
      case Markup markup -> markup.text();
      case Undefined _ -> "";
      case null, default -> repr(value);
    };
  }

  static String repr(Object value) {
    var out = new StringBuilder();
    write(out, value, 0);
    return out.toString();
  }

  private static void write(StringBuilder out, Object value, int depth) {
    int deeper = RenderBudget.checkDepth(depth, out);
    switch (value) {
      case null -> out.append("None");
      case Boolean truth -> out.append(truth ? "True" : "False");
      case Double number -> out.append(number(number));
      case String text -> quote(out, text);
      case Markup markup -> quote(out, markup.text());
      case Undefined _ -> out.append("Undefined");
      case Sequence sequence -> write(out, sequence, deeper);
      case Dict dict -> write(out, dict, deeper);
      case Namespace namespace -> {
        out.append("<Namespace ");
        write(out, namespace.attributes(), deeper);
        out.append('>');
      }
      case Number number -> out.append(number);
      case Object other -> out.append('<').append(PythonValues.typeName(other)).append('>');
    }
  }

  private static void write(StringBuilder out, Sequence sequence, int depth) {
    List<Object> elements = sequence.elements();
    switch (sequence.kind()) {
      case LIST -> writeAll(out, '[', elements, ']', depth);
      case TUPLE -> {
        writeAll(out, '(', elements, ')', depth);
        if (elements.size() == 1) {
          out.insert(out.length() - 1, ',');
        }
      }
      case KEYS, VALUES, ITEMS -> {
        out.append(sequence.kind().pythonName).append('(');
        writeAll(out, '[', elements, ']', depth);
        out.append(')');
      }
      case RANGE -> out.append("range").append(bounds(elements));
      case GENERATOR -> out.append("<generator>");
    }
  }

  private static void writeAll(
      StringBuilder out, char open, List<Object> elements, char close, int depth) {
    out.append(open);
    for (int i = 0; i < elements.size(); i++) {
      out.append(i == 0 ? "" : ", ");
      write(out, elements.get(i), depth);
    }
    out.append(close);
  }

  private static void write(StringBuilder out, Dict dict, int depth) {
    out.append('{');
    String separator = "";
    for (var entry : dict.entries()) {
      out.append(separator);
      write(out, entry.key(), depth);
      out.append(": ");
      write(out, entry.value(), depth);
      separator = ", ";
    }
    out.append('}');
  }

  private static String bounds(List<Object> range) {
    if (range.isEmpty()) {
      return "(0, 0)";
    }
    long first = (Long) range.getFirst();
    long step = range.size() > 1 ? (Long) range.get(1) - first : 1;
    long stop = (Long) range.getLast() + step;
    return "(" + first + ", " + stop + (step == 1 ? "" : ", " + step) + ")";
  }

  /** Returns the shortest digits that parse to the same float, in Python's notation. */
  static String number(double number) {
    if (Double.isNaN(number)) {
      return "nan";
    }
    if (Double.isInfinite(number)) {
      return number > 0 ? "inf" : "-inf";
    }
    if (number == 0) {
      return 1 / number < 0 ? "-0.0" : "0.0";
    }
    var decimal = new BigDecimal(Double.toString(Math.abs(number))).stripTrailingZeros();
    String digits = decimal.unscaledValue().toString();
    int exponent = digits.length() - decimal.scale() - 1;
    String sign = number < 0 ? "-" : "";
    if (exponent >= -4 && exponent < 16) {
      String plain = decimal.toPlainString();
      return sign + plain + (plain.indexOf('.') < 0 ? ".0" : "");
    }
    String fraction = digits.length() > 1 ? "." + digits.substring(1) : "";
    return "%s%s%se%s%02d"
        .formatted(sign, digits.charAt(0), fraction, exponent < 0 ? "-" : "+", Math.abs(exponent));
  }

  private static void quote(StringBuilder out, String text) {
    char quote = text.indexOf('\'') >= 0 && text.indexOf('"') < 0 ? '"' : '\'';
    out.append(quote);
    text.codePoints().forEach(point -> escape(out, point, quote));
    out.append(quote);
  }

  private static void escape(StringBuilder out, int point, char quote) {
    switch (point) {
      case '\n' -> out.append("\\n");
      case '\r' -> out.append("\\r");
      case '\t' -> out.append("\\t");
      case '\\' -> out.append("\\\\");
      default -> {
        if (point == quote) {
          out.append('\\').append(quote);
        } else if (printable(point)) {
          out.appendCodePoint(point);
        } else {
          String form = point < 0x100 ? "\\x%02x" : point < 0x10000 ? "\\u%04x" : "\\U%08x";
          out.append(form.formatted(point));
        }
      }
    }
  }

  private static boolean printable(int point) {
    return switch (Character.getType(point)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      case Character.SPACE_SEPARATOR -> point == ' ';
      default -> true;
    };
  }
}
