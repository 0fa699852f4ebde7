package dev.kvasir.bench;

import dev.kvasir.cli.arguments.ModelLocation;
import dev.kvasir.error.OptionValue;
import dev.kvasir.format.GgufFile;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.HostEngine;
import dev.kvasir.runtime.BundledFiles;
import dev.kvasir.runtime.DeviceChoice;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import java.io.PrintStream;
import java.util.Locale;
import picocli.CommandLine.Option;

/** The model of a benchmark and its thread count. */
final class BenchModelArguments {
  @Option(
      names = {"-m", "--model"},
      paramLabel = "MODEL",
      description = "A model, by path or name; without it, the bundled one.")
  private ModelLocation model;

  @Option(
      names = "--threads",
      defaultValue = "0",
      paramLabel = "N",
      description = "Threads; all processors unless given.")
  private int threads;

  void check() {
    OptionValue.atLeast("--threads", threads, 0);
  }

  int threadCount() {
    return threadCount(threads);
  }

  /**
   * @param threads 0 for all processors
   */
  static int threadCount(int threads) {
    return threads == 0 ? Runtime.getRuntime().availableProcessors() : threads;
  }

  LoadedModel load() {
    return load(DeviceChoice.CPU);
  }

  LoadedModel load(DeviceChoice device) {
    EngineOptions options = EngineOptions.defaults().withThreads(threadCount()).withDevice(device);
    return model == null ? LoadedModel.bundled(options) : LoadedModel.load(model.path(), options);
  }

  GgufFile openGguf() {
    return model == null ? BundledFiles.open() : GgufFile.open(model.path());
  }

  /** Loads the model without what surrounds an engine, for benchmarks that run steps themselves. */
  static HostEngine engine(GgufFile file, WorkerPool workers) {
    return HostEngine.load(
        file,
        KernelChoice.ofThisProcess().kernels(),
        workers,
        MemoryPool.unlimited(),
        (done, inAll) -> {});
  }

  void describe(PrintStream out, LoadedModel loaded) {
    describe(out, loaded, threadCount());
  }

  /** Prints the header line above the figures of a model. */
  static void describe(PrintStream out, LoadedModel loaded, int threadCount) {
    out.printf(
        Locale.ROOT,
        "%s, %d threads, %s, Java %s, %s%n",
        loaded.config().name(),
        threadCount,
        KernelChoice.ofThisProcess().kernels().name(),
        Runtime.version(),
        System.getProperty("os.arch"));
  }
}
