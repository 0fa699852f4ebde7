package dev.kvasir.lab.report;

/** Escapes text for HTML pages. */
final class Html {
  private Html() {}

  /** Escapes text for the content of an element or a double-quoted attribute. */
  static String text(String value) {
    return value
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;")
        .replace("'", "&#39;");
  }

  /**
   * Escapes JSON for a script element, which would end at the first {@code </script}. A bracket can
   * only occur inside a JSON string, where an escape is allowed.
   */
  static String json(String value) {
    return value.replace("<", "\\u003c");
  }
}
