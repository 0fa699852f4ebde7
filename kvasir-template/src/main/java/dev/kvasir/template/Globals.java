package dev.kvasir.template;

import dev.kvasir.template.PythonValues.Callable;
import dev.kvasir.template.PythonValues.Dict;
import dev.kvasir.template.PythonValues.Namespace;
import dev.kvasir.template.PythonValues.Sequence;
import dev.kvasir.template.Renderer.Scope;
import java.time.Clock;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The global functions of chat templates. */
final class Globals {
  /** Python's sandbox has the same limit. */
  private static final long MAX_RANGE = 100_000;

  /** Groups: the minus sign that removes padding, and the letter. */
  private static final Pattern DATE_DIRECTIVE = Pattern.compile("%(-?)(.)", Pattern.DOTALL);

  private static final Pattern PADDING = Pattern.compile("^[0 ]+(?=.)");

  private Globals() {}

  static Scope scope(Clock clock) {
    var scope = new Scope(null);
    define(scope, "raise_exception", Globals::raise);
    define(
        scope,
        "strftime_now",
        arguments ->
            formatted(arguments.bind("strftime_now", "format").text(0), LocalDateTime.now(clock)));
    define(scope, "range", Globals::range);
    define(scope, "namespace", arguments -> new Namespace(dict("namespace", arguments)));
    define(scope, "dict", arguments -> dict("dict", arguments));
    return scope;
  }

  private static void define(Scope scope, String name, Callable function) {
    scope.put(name, function);
  }

  private static Object raise(Arguments arguments) {
    Object message = arguments.bind("raise_exception", "message").value(0, "");
    throw new EvaluationException("the template refuses its input: " + PythonText.str(message));
  }

  private static Sequence range(Arguments arguments) {
    Arguments.Bound bound = arguments.bind("range", "start", "stop", "step");
    long start = bound.has(1) ? bound.integer(0) : 0;
    long stop = bound.has(1) ? bound.integer(1) : bound.integer(0);
    long step = bound.integer(2, 1);
    if (step == 0) {
      throw new EvaluationException("a range step of zero");
    }
    double count = Math.ceil(((double) stop - start) / step);
    if (count > MAX_RANGE) {
      throw new EvaluationException("a range of more than " + MAX_RANGE + " numbers");
    }
    arguments.budget().chargeElements((long) Math.max(0, count));
    var numbers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      numbers.add(start + i * step);
    }
    return new Sequence(Sequence.Kind.RANGE, numbers);
  }

  private static Dict dict(String function, Arguments arguments) {
    if (arguments.positional().size() > 1) {
      throw new EvaluationException(function + " takes at most one argument without a name");
    }
    var dict = new Dict();
    dict.update(arguments);
    return dict;
  }

  /** Formats a date in C's {@code strftime} notation, in English. */
  private static String formatted(String format, LocalDateTime time) {
    return DATE_DIRECTIVE
        .matcher(format)
        .replaceAll(
            found -> {
              String text = directive(found.group(2).charAt(0), time);
              boolean padded = found.group(1).isEmpty();
              return Matcher.quoteReplacement(
                  padded ? text : PADDING.matcher(text).replaceFirst(""));
            });
  }

  private static String directive(char directive, LocalDateTime time) {
    String pattern =
        switch (directive) {
          case 'a' -> "EEE";
          case 'A' -> "EEEE";
          case 'b', 'h' -> "MMM";
          case 'B' -> "MMMM";
          case 'c' -> "EEE MMM ppd HH:mm:ss uuuu";
          case 'd' -> "dd";
          case 'D', 'x' -> "MM/dd/uu";
          case 'e' -> "ppd";
          case 'f' -> "SSSSSS";
          case 'F' -> "uuuu-MM-dd";
          case 'H' -> "HH";
          case 'I' -> "hh";
          case 'j' -> "DDD";
          case 'm' -> "MM";
          case 'M' -> "mm";
          case 'p' -> "a";
          case 'R' -> "HH:mm";
          case 'S' -> "ss";
          case 'T', 'X' -> "HH:mm:ss";
          case 'y' -> "uu";
          case 'Y' -> "uuuu";
          // The Python reference formats a time without a zone.
          case 'z', 'Z' -> "";
          case '%' -> "'%'";
          default ->
              throw new EvaluationException(
                  "the unsupported date directive '%%%s'; supported are aAbBcdDefFhHIjmMpRSTxXyYzZ%%"
                      .formatted(directive));
        };
    return DateTimeFormatter.ofPattern(pattern, Locale.ENGLISH).format(time);
  }
}
