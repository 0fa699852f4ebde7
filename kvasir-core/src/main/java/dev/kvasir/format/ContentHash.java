package dev.kvasir.format;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 hashes that identify content. */
public final class ContentHash {
  private ContentHash() {}

  public static MessageDigest newDigest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java runtime has SHA-256", e);
    }
  }

  /** Returns the hash of a text in UTF-8. */
  public static byte[] of(String text) {
    return newDigest().digest(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns the hash in hexadecimal. */
  public static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(newDigest().digest(bytes));
  }

  /** Returns the hash of a file in hexadecimal. */
  public static String hex(Path file) {
    try (DigestInputStream in = new DigestInputStream(Files.newInputStream(file), newDigest())) {
      in.transferTo(OutputStream.nullOutputStream());
      return HexFormat.of().formatHex(in.getMessageDigest().digest());
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be read".formatted(file), e);
    }
  }
}
