package dev.kvasir.template;

/**
 * Text marked as safe HTML. Python templates create it inadvertently: {@code 'a'|safe + b} escapes
 * {@code b} even though escaping is off, and published prompts depend on that. It only occurs in
 * variables and as an operand of {@code +}; elsewhere it is a string.
 */
record Markup(String text) {
  static Object plain(Object value) {
    return value instanceof Markup markup ? markup.text : value;
  }

  static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace(">", "&gt;")
        .replace("<", "&lt;")
        .replace("'", "&#39;")
        .replace("\"", "&#34;");
  }
}
