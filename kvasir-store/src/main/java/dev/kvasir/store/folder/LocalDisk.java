package dev.kvasir.store.folder;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;

/**
 * Whether a file that is mapped stays what it is when its name is removed: on file systems of this
 * machine. On one that machines share, a file that another has evicted is gone for all, and who
 * reads its mapping ends. Windows removes no mapped file, so nothing could be evicted.
 */
final class LocalDisk {
  private static final Set<String> LOCAL =
      Set.of(
          "apfs",
          "bcachefs",
          "btrfs",
          "ext2",
          "ext3",
          "ext4",
          "f2fs",
          "hfs",
          "jfs",
          "overlay",
          "tmpfs",
          "ufs",
          "xfs",
          "zfs");

  private LocalDisk() {}

  /** One that is not known to be is none. */
  static boolean holds(Path folder) {
    try {
      String type = Files.getFileStore(folder).type().toLowerCase(Locale.ROOT);
      return File.separatorChar == '/' && LOCAL.contains(type);
    } catch (IOException e) {
      return false;
    }
  }
}
