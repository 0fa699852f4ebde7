package dev.kvasir.format;

import dev.kvasir.error.InvalidInputException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/**
 * The Python dictionary in the header of an npy file. It accepts only what {@code numpy.save}
 * writes, and parses without recursion, so nesting cannot overflow the stack.
 *
 * @param descr the dtype as written, quotes included
 */
record NpyDictionary(String descr, boolean fortranOrder, long[] shape) {
  private static final int MAX_DIMENSIONS = 64; // numpy's own limit
  private static final int MAX_DIGITS = 18; // fits a long

  static NpyDictionary parse(String fileName, String text) {
    return new Parser(fileName, text).dictionary();
  }

  private static final class Parser {
    private final String fileName;
    private final String text;
    private final Set<String> seen = new HashSet<>();
    private int at;
    private String descr;
    private boolean fortranOrder;
    private long[] shape;

    Parser(String fileName, String text) {
      this.fileName = fileName;
      this.text = text;
    }

    NpyDictionary dictionary() {
      require("{");
      while (!skip("}")) {
        entry();
        if (!skip(",")) {
          require("}");
          break;
        }
      }
      skipSpaces();
      if (at < text.length()) {
        throw unexpected("nothing after '}'");
      }
      if (seen.size() < 3) {
        throw malformed("the header lacks one of 'descr', 'fortran_order', 'shape'");
      }
      return new NpyDictionary(descr, fortranOrder, shape);
    }

    private void entry() {
      String key = quoted();
      require(":");
      switch (key) {
        case "'descr'" -> descr = dtype();
        case "'fortran_order'" -> fortranOrder = bool();
        case "'shape'" -> shape = tuple();
        default -> throw malformed("the header has the unknown key " + Excerpt.of(key));
      }
      if (!seen.add(key)) {
        throw malformed("the header has %s twice".formatted(key));
      }
    }

    private String dtype() {
      if (startsWith("[")) {
        String fields = text.substring(at, Math.max(at, text.lastIndexOf(']')) + 1);
        throw malformed("its dtype is %s; expected '<f4'".formatted(Excerpt.of(fields)));
      }
      return quoted();
    }

    /** Returns a string in single quotes, whichever quotes the file uses. */
    private String quoted() {
      String quote = startsWith("\"") ? "\"" : "'";
      require(quote);
      int end = text.indexOf(quote, at);
      if (end < 0) {
        throw malformed("the header has a string that does not end, at byte %d".formatted(at));
      }
      String inside = text.substring(at, end);
      at = end + 1;
      return "'" + inside + "'";
    }

    private boolean bool() {
      if (skip("True")) {
        return true;
      }
      require("False");
      return false;
    }

    private long[] tuple() {
      long[] dimensions = new long[MAX_DIMENSIONS];
      int count = 0;
      require("(");
      while (!skip(")")) {
        if (count == MAX_DIMENSIONS) {
          throw malformed("has more than %d dimensions".formatted(MAX_DIMENSIONS));
        }
        dimensions[count++] = wholeNumber();
        if (!skip(",")) {
          require(")");
          break;
        }
      }
      return Arrays.copyOf(dimensions, count);
    }

    private long wholeNumber() {
      skipSpaces();
      int from = at;
      while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
        at++;
      }
      if (at == from || at - from > MAX_DIGITS) {
        at = from;
        throw unexpected("a whole number of at most %d digits".formatted(MAX_DIGITS));
      }
      long number = Long.parseLong(text, from, at, 10);
      skip("L"); // suffix of Python 2's long integers
      return number;
    }

    private boolean startsWith(String token) {
      skipSpaces();
      return text.startsWith(token, at);
    }

    private boolean skip(String token) {
      boolean there = startsWith(token);
      at += there ? token.length() : 0;
      return there;
    }

    private void require(String token) {
      if (!skip(token)) {
        throw unexpected(token);
      }
    }

    private void skipSpaces() {
      while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
        at++;
      }
    }

    private InvalidInputException unexpected(String expected) {
      String found = at < text.length() ? "'%c'".formatted(text.charAt(at)) : "its end";
      return malformed(
          "character %d of the header is %s; expected %s".formatted(at, found, expected));
    }

    private InvalidInputException malformed(String what) {
      return new InvalidInputException(fileName + ": " + what);
    }
  }
}
