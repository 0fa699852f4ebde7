package dev.kvasir.store.tier;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.util.Optional;

/** Maps files for a reader of blobs and unmaps them when the reader is done. */
@FunctionalInterface
public interface FileMapper {
  /** Maps nothing. */
  FileMapper NONE = file -> Optional.empty();

  /** Maps a file for reading; empty if too many files are mapped already. */
  Optional<MemorySegment> map(FileChannel file) throws IOException;
}
