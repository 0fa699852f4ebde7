package dev.kvasir.store.folder;

import dev.kvasir.store.StoreAddress;
import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.BlobTier;
import dev.kvasir.store.tier.SampleBlob;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;

/**
 * A process that writes blocks, and new versions of one record, until it is killed. It prints
 * completed writes: {@code block NUMBER SIZE} or {@code record VERSION}.
 */
final class EndlessSaves {
  static final BlobName RECORD = SampleBlob.record(0, 10).name();
  private static final int RECORD_SIZE = 70_000;
  private static final int MAX_BYTES = 200_000;

  private EndlessSaves() {}

  /** Arguments: the folder, and the number of the first block and record. */
  public static void main(String[] arguments) {
    BlobTier tier = StoreAddress.parse(arguments[0]).open(System.err::println);
    Random random = new Random();
    for (long number = Long.parseLong(arguments[1]); ; number++) {
      int size = random.nextInt(MAX_BYTES);
      SampleBlob block = SampleBlob.block(number, size);
      printConfirmed(
          tier.write(block.name(), block.bytes()), "block %d %d".formatted(number, size));
      printConfirmed(tier.write(RECORD, version(number)), "record " + number);
    }
  }

  private static void printConfirmed(boolean isStored, String line) {
    if (!isStored) {
      throw new IllegalStateException("nothing hinders a write here");
    }
    System.out.println(line);
    System.out.flush();
  }

  private static byte[] version(long number) {
    return ByteBuffer.wrap(SampleBlob.bytes(number, RECORD_SIZE)).putLong(0, number).array();
  }

  /** Returns the version of an intact record, or -1. */
  static long version(byte[] record) {
    long number = record.length == RECORD_SIZE ? ByteBuffer.wrap(record).getLong() : -1;
    return number >= 0 && Arrays.equals(record, version(number)) ? number : -1;
  }
}
