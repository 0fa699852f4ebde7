package dev.kvasir.model;

import dev.kvasir.format.GgufFile;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.MemoryPool;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalInt;

/** Loads small models with the kernels of this process and unlimited memory. */
final class TinyEngine {
  private TinyEngine() {}

  static HostEngine ofGguf(Path file, WorkerPool workers) {
    return ofGguf(file, KernelChoice.ofThisProcess().kernels(), workers);
  }

  static HostEngine ofGguf(Path file, Kernels kernels, WorkerPool workers) {
    return HostEngine.load(
        GgufFile.open(file), kernels, workers, MemoryPool.unlimited(), (done, inAll) -> {});
  }

  /** Loads a Hugging Face folder. */
  static HostEngine ofFolder(Path folder, WorkerPool workers) {
    return ofFolder(folder, KernelChoice.ofThisProcess().kernels(), workers);
  }

  static HostEngine ofFolder(Path folder, Kernels kernels, WorkerPool workers) {
    return HostEngine.load(folder, kernels, workers, MemoryPool.unlimited(), (done, inAll) -> {});
  }

  /** Loads a GGUF file or a Hugging Face folder. */
  static HostEngine withAdapters(Path model, LoraAdapters adapters, WorkerPool workers) {
    Kernels kernels = KernelChoice.ofThisProcess().kernels();
    MemoryPool memory = MemoryPool.unlimited();
    LoadProgress progress = (done, inAll) -> {};
    return Files.isDirectory(model)
        ? HostEngine.load(model, OptionalInt.empty(), kernels, workers, memory, adapters, progress)
        : HostEngine.load(
            GgufFile.open(model),
            OptionalInt.empty(),
            kernels,
            workers,
            memory,
            adapters,
            progress);
  }
}
