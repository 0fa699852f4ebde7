package dev.kvasir.text;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/** How the tokens of a vocabulary represent bytes. */
enum TokenEncoding {
  /**
   * One character per byte (GPT-2). The printable bytes 0x21-0x7E, 0xA1-0xAC and 0xAE-0xFF map to
   * the same code point; the other 68 bytes map, in order, to U+0100 to U+0143. A space is U+0120.
   */
  BYTE_LEVEL("byte-level") {
    @Override
    byte[] bytes(String token) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream(token.length());
      for (int i = 0; i < token.length(); i++) {
        char c = token.charAt(i);
        if (c >= BYTES.length || BYTES[c] < 0) {
          return literal(token);
        }
        bytes.write(BYTES[c]);
      }
      return bytes.toByteArray();
    }
  },

  /** SentencePiece: U+2581 is a space, {@code <0xXX>} is one byte, and the rest is UTF-8. */
  SENTENCE_PIECE("SentencePiece") {
    @Override
    byte[] bytes(String token) {
      int value = byteOf(token);
      return value >= 0 ? new byte[] {(byte) value} : literal(token.replace(SPACE, ' '));
    }
  };

  /** LOWER ONE EIGHTH BLOCK, SentencePiece's space. */
  static final char SPACE = '\u2581';

  /** Byte of each character of the byte-level alphabet; -1 for other characters. */
  private static final int[] BYTES = byteOfCharacter();

  private final String title;

  TokenEncoding(String title) {
    this.title = title;
  }

  /** Returns the bytes of a token of the model's own vocabulary. */
  abstract byte[] bytes(String token);

  String title() {
    return title;
  }

  /** Returns the bytes of an added token: its text. */
  static byte[] literal(String token) {
    return token.getBytes(StandardCharsets.UTF_8);
  }

  /** Returns the byte of {@code <0xXX>}, or -1 for any other text. */
  static int byteOf(String token) {
    boolean named =
        token.length() == 6
            && token.startsWith("<0x")
            && token.charAt(5) == '>'
            && HexFormat.isHexDigit(token.charAt(3))
            && HexFormat.isHexDigit(token.charAt(4));
    return named ? HexFormat.fromHexDigits(token, 3, 5) : -1;
  }

  private static int[] byteOfCharacter() {
    int[] bytes = new int[0x144];
    Arrays.fill(bytes, -1);
    int other = 0x100;
    for (int value = 0; value < 256; value++) {
      boolean printable =
          value >= 0x21 && value <= 0x7E || value >= 0xA1 && value <= 0xFF && value != 0xAD;
      bytes[printable ? value : other++] = value;
    }
    return bytes;
  }
}
