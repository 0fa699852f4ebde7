package dev.kvasir.store.folder;

import dev.kvasir.store.tier.Deadline;
import dev.kvasir.store.tier.SampleBlob;
import java.nio.file.Path;
import java.util.List;

/** A process with a file size limit, which tries to exceed it; a full disk behaves the same. */
final class SmallDisk {
  private SmallDisk() {}

  /** Arguments: the folder, a size that fits, and one that does not. */
  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    FolderTier tier = new FolderTier(folder, 0, System.out::println);
    SampleBlob small = SampleBlob.block(1, Integer.parseInt(arguments[1]));
    SampleBlob large = SampleBlob.block(2, Integer.parseInt(arguments[2]));
    for (int i = 0; i < 3; i++) {
      System.out.println("large stored: " + tier.write(large.name(), large.bytes()));
    }
    System.out.println("small stored: " + tier.write(small.name(), small.bytes()));
    List<?> there =
        List.copyOf(tier.read(List.of(large.name(), small.name()), Deadline.none()).keySet());
    System.out.println("small alone is there: " + there.equals(List.of(small.name())));
    System.out.println(
        "unfinished: " + BlobFiles.children(new BlobFiles(folder).unfinished()).size());
  }
}
