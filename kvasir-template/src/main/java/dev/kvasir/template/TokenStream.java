package dev.kvasir.template;

import java.util.List;

/** A cursor over the tokens of a template, with the checks that both parsers share. */
final class TokenStream {
  /** The kinds of tokens; one without a description is described by its text. */
  enum Kind {
    DATA("text"),
    PRINT_BEGIN("'{{'"),
    PRINT_END("'}}'"),
    BLOCK_BEGIN("'{%'"),
    BLOCK_END("'%}'"),
    NAME(null),
    STRING("a string"),
    NUMBER(null),
    OPERATOR(null),
    END("the end of the template");

    private final String description;

    Kind(String description) {
      this.description = description;
    }
  }

  /** A token of a template; {@code value} is the value of a literal, else the text. */
  record Token(Kind kind, Object value, int line) {
    boolean is(Kind expected, String text) {
      return kind == expected && value.equals(text);
    }

    String described() {
      return kind.description == null ? "'" + value + "'" : kind.description;
    }
  }

  /** Limits the recursion of the parsers. */
  private static final int MAX_NESTING = 100;

  /** Nesting on the caller's stack, with up to 3 KiB for each level of brackets. */
  private static final int SHALLOW = 10;

  private final String name;
  private final List<Token> tokens;
  private int position;
  private int nesting;
  private int conditions;
  private TemplateException postponed;

  TokenStream(List<Token> tokens, String name) {
    this.tokens = tokens;
    this.name = name;
  }

  Token current() {
    return tokens.get(position);
  }

  Token ahead() {
    return tokens.get(Math.min(position + 1, tokens.size() - 1));
  }

  int position() {
    return position;
  }

  /** Returns whether a name occurs between an earlier position and the current one. */
  boolean mentionedSince(int start, String name) {
    return tokens.subList(start, position).stream().anyMatch(token -> token.is(Kind.NAME, name));
  }

  int line() {
    return current().line();
  }

  Token take() {
    Token token = current();
    if (token.kind() != Kind.END) {
      position++;
    }
    return token;
  }

  boolean at(Kind kind) {
    return current().kind() == kind;
  }

  boolean atName(String text) {
    return current().is(Kind.NAME, text);
  }

  boolean atOperator(String text) {
    return current().is(Kind.OPERATOR, text);
  }

  boolean takeName(String text) {
    return takeIf(atName(text));
  }

  boolean takeOperator(String text) {
    return takeIf(atOperator(text));
  }

  private boolean takeIf(boolean expected) {
    if (expected) {
      take();
    }
    return expected;
  }

  void expectOperator(String text) {
    if (!takeOperator(text)) {
      throw unexpected("'" + text + "'");
    }
  }

  String expectName() {
    if (!at(Kind.NAME)) {
      throw unexpected("a name");
    }
    return (String) take().value();
  }

  void enter() {
    if (++nesting > SHALLOW) {
      LargeStack.require();
    }
    if (nesting > MAX_NESTING) {
      throw error("blocks or brackets nested deeper than " + MAX_NESTING);
    }
  }

  void leave() {
    nesting--;
  }

  /**
   * Starts a condition. Inside it, an unknown filter or test is only an error when it is evaluated:
   * published templates guard those that only some engines have.
   */
  void enterCondition() {
    conditions++;
  }

  void leaveCondition() {
    conditions--;
  }

  /** Reports an unknown filter or test at the end of the tag, unless a condition guards it. */
  void postpone(TemplateException unknown) {
    if (conditions == 0 && postponed == null) {
      postponed = unknown;
    }
  }

  TemplateException postponed() {
    return postponed;
  }

  void postponeOnly(TemplateException unknown) {
    postponed = unknown;
  }

  void endTag(Kind kind) {
    if (!at(kind)) {
      throw unexpected(kind.description);
    }
    if (postponed != null) {
      throw postponed;
    }
    take();
  }

  TemplateException unexpected(String expected) {
    return error("found " + current().described() + " where " + expected + " was expected");
  }

  TemplateException error(String found) {
    return error(line(), found);
  }

  TemplateException error(int line, String found) {
    return new TemplateException(name, line, found);
  }
}
