package dev.kvasir.store.tier;

import java.util.HexFormat;
import java.util.Locale;

/**
 * What a blob is called: 32 bytes that its maker derived from what is inside, as 64 hexadecimal
 * digits, and what kind it is of. The same 32 bytes may name one of each kind.
 */
public record BlobName(Kind kind, String hex) {
  public static final int BYTES = 32;

  /** A block never changes under its name; a record may give way to a newer one. */
  public enum Kind {
    BLOCK,
    RECORD;

    /** As it stands in names of files and keys. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public BlobName {
    if (!isHex(hex)) {
      throw new IllegalArgumentException(
          "the name is '%s'; expected %d digits of 0-9 and a-f".formatted(hex, 2 * BYTES));
    }
  }

  public static BlobName block(byte[] hash) {
    return new BlobName(Kind.BLOCK, HexFormat.of().formatHex(hash));
  }

  public static BlobName record(byte[] hash) {
    return new BlobName(Kind.RECORD, HexFormat.of().formatHex(hash));
  }

  /** Whether a text could be the digits of a name. */
  public static boolean isHex(String text) {
    return text.length() == 2 * BYTES
        && text.chars().allMatch(c -> c >= '0' && c <= '9' || c >= 'a' && c <= 'f');
  }

  public byte[] bytes() {
    return HexFormat.of().parseHex(hex);
  }

  @Override
  public String toString() {
    return kind.word() + " " + hex;
  }
}
