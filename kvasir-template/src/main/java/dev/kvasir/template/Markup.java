package dev.kvasir.template;

/**
 * Text marked as safe HTML. Templates that were written for Python meet it by accident: {@code
 * 'a'|safe + b} escapes {@code b} there even though escaping is off, and published prompts depend
 * on it. It lives only in variables and as an operand of {@code +}; everywhere else it is a string.
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
