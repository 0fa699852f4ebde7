package dev.kvasir.template;

import dev.kvasir.template.Token.Kind;
import java.util.ArrayList;
import java.util.List;

/**
 * Splits a template into text and tags.
 *
 * <p>White space follows Jinja with {@code trim_blocks} and {@code lstrip_blocks}, the settings of
 * chat templates. The newline after a block or comment and the indentation before it are removed. A
 * minus sign in a tag removes all white space on its side, and a plus sign keeps it. One newline at
 * the end of the source is removed.
 */
final class Lexer {
  private final String name;
  private final String source;
  private final List<Token> tokens = new ArrayList<>();
  private int position;
  private int line = 1;
  private int counted;

  private Lexer(String source, String name) {
    String lines = source.replace("\r\n", "\n").replace('\r', '\n');
    this.source = lines.endsWith("\n") ? lines.substring(0, lines.length() - 1) : lines;
    this.name = name;
  }

  static List<Token> tokens(String source, String name) {
    var lexer = new Lexer(source, name);
    while (lexer.position < lexer.source.length()) {
      lexer.next();
    }
    lexer.add(Kind.END, "");
    return lexer.tokens;
  }

  private void next() {
    int open = open(position);
    if (open < 0) {
      data(source.substring(position));
      position = source.length();
      return;
    }
    data(before(open));
    char kind = source.charAt(open + 1);
    position = open + 2;
    if (at('-') || at('+')) {
      position++;
    }
    switch (kind) {
      case '#' -> comment();
      case '{' -> tag(Kind.PRINT_BEGIN, Kind.PRINT_END);
      default -> {
        int body = rawBody();
        if (body >= 0) {
          raw(body);
        } else {
          tag(Kind.BLOCK_BEGIN, Kind.BLOCK_END);
        }
      }
    }
  }

  private int open(int from) {
    int at = source.indexOf('{', from);
    while (at >= 0 && at + 1 < source.length()) {
      if ("{%#".indexOf(source.charAt(at + 1)) >= 0) {
        return at;
      }
      at = source.indexOf('{', at + 1);
    }
    return -1;
  }

  /**
   * Returns the text up to the tag at {@code open}, without the white space that the tag removes.
   */
  private String before(int open) {
    String text = source.substring(position, open);
    char sign = open + 2 < source.length() ? source.charAt(open + 2) : ' ';
    if (sign == '-') {
      return Whitespace.stripEnd(text, Whitespace::is);
    }
    if (sign == '+' || source.charAt(open + 1) == '{') {
      return text;
    }
    int lineStart = text.lastIndexOf('\n') + 1;
    boolean startsLine = lineStart > 0 || position == 0 || source.charAt(position - 1) == '\n';
    return startsLine && Whitespace.skip(text, lineStart) == text.length()
        ? text.substring(0, lineStart)
        : text;
  }

  private void comment() {
    int end = source.indexOf("#}", position);
    if (end < 0) {
      throw error("a comment without its '#}'");
    }
    char sign = end > position ? source.charAt(end - 1) : ' ';
    position = end + 2;
    closed(sign, true);
  }

  /** Returns the start of the text of a raw block, or -1 if this is another tag. */
  private int rawBody() {
    int at = Whitespace.skip(source, position);
    if (!source.startsWith("raw", at)) {
      return -1;
    }
    at = Whitespace.skip(source, at + 3);
    if (source.startsWith("-%}", at)) {
      return Whitespace.skip(source, at + 3);
    }
    return source.startsWith("%}", at) ? at + 2 : -1;
  }

  private void raw(int body) {
    int open = source.indexOf("{%", body);
    while (open >= 0) {
      int at = open + 2;
      if (at < source.length() && "+-".indexOf(source.charAt(at)) >= 0) {
        at++;
      }
      at = Whitespace.skip(source, at);
      if (source.startsWith("endraw", at)) {
        at = Whitespace.skip(source, at + 6);
        int end = source.startsWith("%}", at) ? at : at + 1;
        if (source.startsWith("%}", end) && (end == at || "+-".indexOf(source.charAt(at)) >= 0)) {
          position = body;
          data(before(open));
          position = end + 2;
          closed(source.charAt(end - 1), true);
          return;
        }
      }
      open = source.indexOf("{%", open + 1);
    }
    throw error("a raw block without its '{% endraw %}'");
  }

  private void tag(Kind begin, Kind end) {
    add(begin, "");
    var inside = new TagLexer(source, position, begin == Kind.BLOCK_BEGIN, this::error);
    while (true) {
      int start = inside.skipSpace();
      position = start;
      Token token = inside.next(line());
      if (token.kind() == Kind.END) {
        break;
      }
      tokens.add(token);
      position = inside.position();
    }
    add(end, "");
    position = inside.position();
    closed(source.charAt(position - 3), begin == Kind.BLOCK_BEGIN);
  }

  /** Skips the white space that a tag removes after it. */
  private void closed(char sign, boolean takesNewline) {
    if (sign == '-') {
      position = Whitespace.skip(source, position);
    } else if (takesNewline && !(sign == '+') && at('\n')) {
      position++;
    }
  }

  private boolean at(char expected) {
    return position < source.length() && source.charAt(position) == expected;
  }

  private void data(String text) {
    if (!text.isEmpty()) {
      add(Kind.DATA, text);
    }
  }

  private void add(Kind kind, Object value) {
    tokens.add(new Token(kind, value, line()));
  }

  private int line() {
    for (; counted < Math.min(position, source.length()); counted++) {
      if (source.charAt(counted) == '\n') {
        line++;
      }
    }
    return line;
  }

  private TemplateException error(String found) {
    return new TemplateException(name, line(), found);
  }
}
