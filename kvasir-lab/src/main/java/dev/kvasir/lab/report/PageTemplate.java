package dev.kvasir.lab.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A page with named gaps, written as {@code {{name}}}. */
final class PageTemplate {
  private static final Pattern PLACEHOLDER = Pattern.compile("\\{\\{(\\w+)}}");

  private PageTemplate() {}

  /** All gaps are filled in one pass: what looks like a gap inside a part is left alone. */
  static String fill(String template, Map<String, String> parts) {
    return PLACEHOLDER
        .matcher(template)
        .replaceAll(gap -> Matcher.quoteReplacement(parts.get(gap.group(1))));
  }

  /** A file beside this class; line ends are the same on every machine. */
  static String resource(String name) {
    try (InputStream stream = PageTemplate.class.getResourceAsStream(name)) {
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8).replace("\r\n", "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
