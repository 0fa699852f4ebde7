package dev.kvasir.hub;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;

/**
 * The expected hash of a file. Hubs announce two kinds, told apart by length: the SHA-256 of files
 * in large file storage, and the object id of files in Git, which is the SHA-1 of {@code "blob " +
 * size + "\0" + content}.
 *
 * @param digits lower-case hexadecimal digits
 */
record BlobHash(String digits) {
  private static final int SHA256_DIGITS = 64;
  private static final int SHA1_DIGITS = 40;

  /** Returns the hash that a server states; empty if it is of neither kind. */
  static Optional<BlobHash> of(String digits) {
    return digits.matches("[0-9a-f]{40}|[0-9a-f]{64}")
        ? Optional.of(new BlobHash(digits))
        : Optional.empty();
  }

  String algorithm() {
    return digits.length() == SHA256_DIGITS ? "SHA-256" : "Git hash";
  }

  /** Returns a digest that has consumed what precedes the content. */
  MessageDigest begin(long size) {
    try {
      if (digits.length() == SHA1_DIGITS) {
        MessageDigest sha1 = MessageDigest.getInstance("SHA-1");
        sha1.update(("blob " + size + "\0").getBytes(StandardCharsets.US_ASCII));
        return sha1;
      }
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-1 and SHA-256", e);
    }
  }

  static String digits(MessageDigest digest) {
    return HexFormat.of().formatHex(digest.digest());
  }
}
