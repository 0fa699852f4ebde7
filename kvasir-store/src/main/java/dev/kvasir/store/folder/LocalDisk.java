package dev.kvasir.store.folder;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;

/**
 * Whether a mapped file stays readable after its deletion, which holds on local file systems. On a
 * shared file system, an evicted file is gone for all machines, and access to its mapping kills the
 * process. Windows cannot delete a mapped file, so eviction would fail.
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

  /** Returns whether a folder is on a file system known to be local. */
  static boolean holds(Path folder) {
    try {
      String type = Files.getFileStore(folder).type().toLowerCase(Locale.ROOT);
      return File.separatorChar == '/' && LOCAL.contains(type);
    } catch (IOException e) {
      return false;
    }
  }
}
