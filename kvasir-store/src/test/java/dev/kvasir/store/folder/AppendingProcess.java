package dev.kvasir.store.folder;

import dev.kvasir.store.StoreAddress;
import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.BlobTier;
import dev.kvasir.store.tier.SampleBlob;
import java.nio.charset.StandardCharsets;

/**
 * A process that appends lines to a record shared with others; exits with 1 if an append failed.
 */
final class AppendingProcess {
  static final BlobName RECORD = SampleBlob.record(3, 10).name();
  static final int LINES = 100;

  private AppendingProcess() {}

  /** Arguments: the address of the folder and a number that identifies the process. */
  public static void main(String[] arguments) {
    BlobTier tier = StoreAddress.parse(arguments[0]).open(System.err::println);
    boolean isWell = true;
    for (int i = 0; i < LINES; i++) {
      String line = arguments[1] + " " + i + "\n";
      isWell &= tier.append(RECORD, line.getBytes(StandardCharsets.UTF_8));
    }
    System.exit(isWell ? 0 : 1);
  }
}
