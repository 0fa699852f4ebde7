package dev.kvasir.lab.report;

/** Text made harmless for its place in a page. */
final class Html {
  private Html() {}

  /** For the content of an element and for an attribute in double quotes. */
  static String text(String value) {
    return value
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;")
        .replace("'", "&#39;");
  }

  /**
   * For JSON inside a script element, which ends at the first {@code </script} whatever the JSON
   * means by it. A bracket can only stand inside a string there, where it may be written as a code.
   */
  static String json(String value) {
    return value.replace("<", "\\u003c");
  }
}
