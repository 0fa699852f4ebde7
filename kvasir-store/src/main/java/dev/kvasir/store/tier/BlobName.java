package dev.kvasir.store.tier;

import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;

/**
 * The name of a blob: its kind and 32 bytes derived from its content, as 64 hexadecimal digits. The
 * same bytes may name one blob of each kind.
 */
public record BlobName(Kind kind, String hex) {
  public static final int BYTES = 32;

  /** The kind of a blob. A block is immutable; a record may be replaced by a newer one. */
  public enum Kind {
    BLOCK,
    RECORD;

    /** Returns the form used in file names and keys. */
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

  /** Returns whether a text could be the digits of a name. */
  public static boolean isHex(String text) {
    return text.length() == 2 * BYTES
        && text.chars().allMatch(c -> c >= '0' && c <= '9' || c >= 'a' && c <= 'f');
  }

  /** Parses the result of {@link #toString}; empty if the text is not a name. */
  public static Optional<BlobName> parse(String text) {
    for (Kind kind : Kind.values()) {
      String hex = text.substring(Math.min(text.length(), kind.word().length() + 1));
      if (text.equals(kind.word() + " " + hex) && isHex(hex)) {
        return Optional.of(new BlobName(kind, hex));
      }
    }
    return Optional.empty();
  }

  public byte[] bytes() {
    return HexFormat.of().parseHex(hex);
  }

  @Override
  public String toString() {
    return kind.word() + " " + hex;
  }
}
