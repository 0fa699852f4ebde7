package dev.kvasir.model;

import dev.kvasir.format.GgufFile;
import dev.kvasir.kernel.Crew;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.memory.MemoryPool;
import java.nio.file.Path;

/** Small models on plain kernels, with as much memory as they want. */
final class TinyEngine {
  private TinyEngine() {}

  static HostEngine ofGguf(Path file, Crew crew) {
    return HostEngine.load(
        GgufFile.open(file),
        new ScalarKernels(),
        crew,
        MemoryPool.unlimited(),
        (done, inAll) -> {});
  }

  /** As Hugging Face lays it out. */
  static HostEngine ofFolder(Path folder, Crew crew) {
    return HostEngine.load(
        folder, new ScalarKernels(), crew, MemoryPool.unlimited(), (done, inAll) -> {});
  }
}
