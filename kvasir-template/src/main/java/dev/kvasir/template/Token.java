package dev.kvasir.template;

/** One piece of template source; {@code value} is a literal's value, and the text of all others. */
record Token(Kind kind, Object value, int line) {
  enum Kind {
    DATA,
    PRINT_BEGIN,
    PRINT_END,
    BLOCK_BEGIN,
    BLOCK_END,
    NAME,
    STRING,
    NUMBER,
    OPERATOR,
    END
  }

  boolean is(Kind expected, String text) {
    return kind == expected && value.equals(text);
  }

  String described() {
    return switch (kind) {
      case DATA -> "text";
      case PRINT_BEGIN -> "'{{'";
      case PRINT_END -> "'}}'";
      case BLOCK_BEGIN -> "'{%'";
      case BLOCK_END -> "'%}'";
      case STRING -> "a string";
      case NUMBER, NAME, OPERATOR -> "'" + value + "'";
      case END -> "the end of the template";
    };
  }
}
