package dev.kvasir.store.folder;

import dev.kvasir.store.StoreAddress;
import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.BlobTier;
import dev.kvasir.store.tier.Deadline;
import dev.kvasir.store.tier.SampleBlob;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;

/**
 * A process that writes blocks to a folder too small for them, and reads blocks of its own and of
 * others. It exits with 1 if anything failed or was damaged.
 */
final class SharingProcess {
  static final int SIZE = 4_000;
  private static final int KINDS = 300;
  private static final int WRITES = 150;

  private SharingProcess() {}

  /** Arguments: the address of the folder, and a seed. */
  public static void main(String[] arguments) {
    BlobTier tier = StoreAddress.parse(arguments[0]).open(System.err::println);
    Random random = new Random(Long.parseLong(arguments[1]));
    List<BlobName> names =
        LongStream.range(0, KINDS).mapToObj(i -> SampleBlob.block(i, SIZE).name()).toList();
    boolean isWell = true;
    for (int i = 0; i < WRITES; i++) {
      SampleBlob block = SampleBlob.block(random.nextInt(KINDS), SIZE);
      isWell &= tier.write(block.name(), block.bytes());
      List<BlobName> some = names.subList(random.nextInt(KINDS - 20), KINDS).subList(0, 20);
      isWell &=
          tier.read(some, Deadline.none()).entrySet().stream()
              .allMatch(found -> SampleBlob.isWhole(found.getKey(), found.getValue()));
      tier.touch(some);
    }
    System.exit(isWell && tier.failures() == 0 ? 0 : 1);
  }
}
