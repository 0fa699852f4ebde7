package dev.kvasir.lab.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A page template with placeholders, written as {@code {{name}}}. */
final class PageTemplate {
  private static final Pattern PLACEHOLDER = Pattern.compile("\\{\\{(\\w+)}}");

  private PageTemplate() {}

  /** Fills all placeholders in one pass; placeholders inside inserted text are left alone. */
  static String fill(String template, Map<String, String> parts) {
    return PLACEHOLDER
        .matcher(template)
        .replaceAll(gap -> Matcher.quoteReplacement(parts.get(gap.group(1))));
  }

  /** Returns a resource next to this class, with the same line ends on every machine. */
  static String resource(String name) {
    try (InputStream stream = PageTemplate.class.getResourceAsStream(name)) {
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8).replace("\r\n", "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
