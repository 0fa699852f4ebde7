package dev.kvasir.store.tier;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.util.Optional;

/** Maps files for one who reads blobs where they lie, and lets go of them when he has done. */
@FunctionalInterface
public interface FileMapper {
  /** For one who does not hold on to files. */
  FileMapper NONE = file -> Optional.empty();

  /** To be read; empty where too many are mapped already. */
  Optional<MemorySegment> map(FileChannel file) throws IOException;
}
