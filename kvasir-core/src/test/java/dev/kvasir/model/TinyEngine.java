package dev.kvasir.model;

import dev.kvasir.format.GgufFile;
import dev.kvasir.kernel.Crew;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.memory.MemoryPool;
import java.nio.file.Path;

/** Small models on the kernels of this process, with as much memory as they want. */
final class TinyEngine {
  private TinyEngine() {}

  static HostEngine ofGguf(Path file, Crew crew) {
    return ofGguf(file, KernelChoice.ofThisProcess().kernels(), crew);
  }

  static HostEngine ofGguf(Path file, Kernels kernels, Crew crew) {
    return HostEngine.load(
        GgufFile.open(file), kernels, crew, MemoryPool.unlimited(), (done, inAll) -> {});
  }

  /** As Hugging Face lays it out. */
  static HostEngine ofFolder(Path folder, Crew crew) {
    return ofFolder(folder, KernelChoice.ofThisProcess().kernels(), crew);
  }

  static HostEngine ofFolder(Path folder, Kernels kernels, Crew crew) {
    return HostEngine.load(folder, kernels, crew, MemoryPool.unlimited(), (done, inAll) -> {});
  }
}
