package dev.kvasir.template;

/** A token of a template; {@code value} is the value of a literal, else the text. */
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
