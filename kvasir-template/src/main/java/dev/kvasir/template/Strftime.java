package dev.kvasir.template;

import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Formats dates in C's {@code strftime} notation, in English. */
final class Strftime {
  private static final String SUPPORTED = "aAbBcdDefFGhHIjklmMnpRSTuVwxXyYzZ%";

  private Strftime() {}

  static String format(String format, LocalDateTime time) {
    var out = new StringBuilder();
    for (int i = 0; i < format.length(); i++) {
      char character = format.charAt(i);
      if (character != '%' || i + 1 == format.length()) {
        out.append(character);
        continue;
      }
      char directive = format.charAt(++i);
      boolean unpadded = directive == '-' && i + 1 < format.length();
      if (unpadded) {
        directive = format.charAt(++i);
      }
      String text = directive(directive, time);
      out.append(unpadded ? withoutPadding(text) : text);
    }
    return out.toString();
  }

  private static String directive(char directive, LocalDateTime time) {
    return switch (directive) {
      case 'a' -> pattern("EEE", time);
      case 'A' -> pattern("EEEE", time);
      case 'b', 'h' -> pattern("MMM", time);
      case 'B' -> pattern("MMMM", time);
      case 'c' -> format("%a %b %e %H:%M:%S %Y", time);
      case 'd' -> pattern("dd", time);
      case 'D', 'x' -> pattern("MM/dd/yy", time);
      case 'e' -> "%2d".formatted(time.getDayOfMonth());
      case 'f' -> pattern("SSSSSS", time);
      case 'F' -> pattern("uuuu-MM-dd", time);
      case 'G' -> DateTimeFormatter.ISO_WEEK_DATE.format(time).substring(0, 4);
      case 'H' -> pattern("HH", time);
      case 'I' -> pattern("hh", time);
      case 'j' -> pattern("DDD", time);
      case 'k' -> "%2d".formatted(time.getHour());
      case 'l' -> "%2d".formatted((time.getHour() + 11) % 12 + 1);
      case 'm' -> pattern("MM", time);
      case 'M' -> pattern("mm", time);
      case 'n' -> "\n";
      case 'p' -> time.getHour() < 12 ? "AM" : "PM";
      case 'R' -> pattern("HH:mm", time);
      case 'S' -> pattern("ss", time);
      case 'T', 'X' -> pattern("HH:mm:ss", time);
      case 'u' -> String.valueOf(time.getDayOfWeek().getValue());
      case 'V' -> DateTimeFormatter.ISO_WEEK_DATE.format(time).substring(6, 8);
      case 'w' -> String.valueOf(time.getDayOfWeek().getValue() % 7);
      case 'y' -> pattern("uu", time);
      case 'Y' -> pattern("uuuu", time);
      // The Python reference formats a time without a zone.
      case 'z', 'Z' -> "";
      case '%' -> "%";
      default ->
          throw new EvaluationException(
              "the unsupported date directive '%%%s'; supported are %s"
                  .formatted(directive, SUPPORTED));
    };
  }

  private static String pattern(String pattern, LocalDateTime time) {
    return DateTimeFormatter.ofPattern(pattern, Locale.ENGLISH).format(time);
  }

  private static String withoutPadding(String text) {
    int start = 0;
    while (start < text.length() - 1 && (text.charAt(start) == '0' || text.charAt(start) == ' ')) {
      start++;
    }
    return text.substring(start);
  }
}
