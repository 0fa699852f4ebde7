package dev.kvasir.cuda.engine;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cuda.driver.Device;
import dev.kvasir.engine.Batch;
import dev.kvasir.format.GgufFile;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.DecoderEngine;
import dev.kvasir.model.HostEngine;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.runtime.BundledFiles;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.spi.EngineProvider;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** The bundled model on host and device, its test prompt, and the divergence of logits. */
public final class BundledModel {
  private static final String BUNDLED = "/dev/kvasir/mini/kvasir-mini-q8_0.gguf";

  private BundledModel() {}

  /** Returns two thousand tokens of a novel. */
  static int[] prose() throws IOException {
    try (InputStream in = BundledModel.class.getResourceAsStream("/dev/kvasir/cuda/prose.tokens")) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return Arrays.stream(text.trim().split("\\s+")).mapToInt(Integer::parseInt).toArray();
    }
  }

  /** Appends tokens in one step and returns the logits of the last one. */
  static float[] logits(DecoderEngine engine, KvCache cache, int... tokens) {
    Batch batch = new Batch();
    for (int i = 0; i < tokens.length; i++) {
      batch.add(cache, tokens[i], i == tokens.length - 1);
    }
    engine.forward(batch);
    return Arrays.copyOf(batch.logits(), engine.config().vocabulary());
  }

  /** Returns the bundled model on a device. */
  static CudaEngine device(CacheSpec spec) {
    return device(spec, Long.MAX_VALUE);
  }

  /**
   * @param cacheBytes limit of the memory of caches
   */
  static CudaEngine device(CacheSpec spec, long cacheBytes) {
    return divided(1, spec, cacheBytes);
  }

  /**
   * Returns the bundled model in several ranges of layers, on the devices of this machine in turn.
   *
   * @param cacheBytes limit of the memory of caches
   */
  static CudaEngine divided(int ranges, CacheSpec spec, long cacheBytes) {
    try (GgufFile file = BundledFiles.open()) {
      return (CudaEngine)
          new CudaProvider()
              .open(
                  new EngineProvider.LoadRequest(
                      file,
                      ModelConfig.of(file),
                      IntStream.range(0, ranges).mapToObj(i -> i % Device.all().size()).toList(),
                      List.of(spec),
                      cacheBytes,
                      (done, all) -> {}));
    }
  }

  static HostEngine host(WorkerPool workers, boolean nudged) throws IOException {
    return HostEngine.load(
        nudged ? nudged() : BundledFiles.open(),
        KernelChoice.ofThisProcess().kernels(),
        workers,
        MemoryPool.unlimited(),
        (done, all) -> {});
  }

  /** Returns the file of the bundled model. */
  public static byte[] bytes() throws IOException {
    try (InputStream in = LoadedModel.class.getResourceAsStream(BUNDLED)) {
      return in.readAllBytes();
    }
  }

  /**
   * Returns the bundled model with the weights of its first norm scaled by 1 ± 2^-12 alternately.
   */
  private static GgufFile nudged() throws IOException {
    byte[] bytes = bytes();
    GgufFile file = GgufFile.of("nudged", MemorySegment.ofArray(bytes), Arena.ofShared());
    MemorySegment norm = file.find("blk.0.attn_norm.weight").orElseThrow().data();
    // The address of a segment over an array is the offset in it.
    MemorySegment weights = MemorySegment.ofArray(bytes).asSlice(norm.address(), norm.byteSize());
    for (long at = 0; at < weights.byteSize(); at += Float.BYTES) {
      float weight = weights.get(JAVA_FLOAT_UNALIGNED, at);
      weights.set(JAVA_FLOAT_UNALIGNED, at, weight * (1 + (at % 8 == 0 ? 0x1p-12f : -0x1p-12f)));
    }
    return file;
  }

  /** Returns the Kullback-Leibler divergence of two softmaxes. */
  static double divergence(float[] wanted, float[] found) {
    int count = wanted.length;
    double[] p = softmaxLogs(wanted, count);
    double[] q = softmaxLogs(found, count);
    double sum = 0;
    for (int i = 0; i < count; i++) {
      sum += Math.exp(p[i]) * (p[i] - q[i]);
    }
    return sum;
  }

  private static double[] softmaxLogs(float[] logits, int count) {
    double most = Double.NEGATIVE_INFINITY;
    for (int i = 0; i < count; i++) {
      most = Math.max(most, logits[i]);
    }
    double sum = 0;
    for (int i = 0; i < count; i++) {
      sum += Math.exp(logits[i] - most);
    }
    double[] logs = new double[count];
    for (int i = 0; i < count; i++) {
      logs[i] = logits[i] - most - Math.log(sum);
    }
    return logs;
  }
}
