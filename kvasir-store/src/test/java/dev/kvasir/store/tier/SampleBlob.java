package dev.kvasir.store.tier;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Random;

/**
 * A blob whose bytes follow from a number and whose name is their hash, so that damage is
 * detectable.
 */
public record SampleBlob(BlobName name, byte[] bytes) {
  public static SampleBlob block(long number, int size) {
    byte[] bytes = bytes(number, size);
    return new SampleBlob(BlobName.block(hash(bytes)), bytes);
  }

  public static SampleBlob record(long number, int size) {
    byte[] bytes = bytes(number, size);
    return new SampleBlob(BlobName.record(hash(bytes)), bytes);
  }

  public static byte[] bytes(long number, int size) {
    byte[] bytes = new byte[size];
    new Random(number).nextBytes(bytes);
    return bytes;
  }

  public static boolean isWhole(BlobName name, byte[] bytes) {
    return Arrays.equals(name.bytes(), hash(bytes));
  }

  private static byte[] hash(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }
}
