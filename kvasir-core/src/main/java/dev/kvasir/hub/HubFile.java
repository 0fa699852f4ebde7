package dev.kvasir.hub;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * A file of a repository.
 *
 * @param path with slashes
 * @param bytes its size, if the listing has it
 * @param hash the SHA-256 of a large file or the Git hash of a small one; also its name in the
 *     cache
 */
record HubFile(String path, OptionalLong bytes, Optional<BlobHash> hash) {
  /** Returns the part of the path after the last slash. */
  String name() {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  boolean isAtRoot() {
    return path.indexOf('/') < 0;
  }
}
