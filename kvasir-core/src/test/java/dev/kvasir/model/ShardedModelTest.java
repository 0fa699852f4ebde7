package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.Mappings;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.TinyModel.Sizes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that a model in three files is bit-identical to the model in one file. */
class ShardedModelTest {
  private static final int[] TOKENS = {3, 14, 15, 9, 26, 5, 35, 8, 9, 7, 9, 32};

  @TempDir Path folder;

  private final WorkerPool workers = new WorkerPool(1);

  @AfterEach
  void close() {
    workers.close();
  }

  @ParameterizedTest
  @EnumSource(
      value = GgmlType.class,
      names = {"F32", "BF16", "Q6_K"})
  void logitsFingerprintAndSizesAreTheSame(GgmlType type) throws IOException {
    TinyModel model = new TinyModel(Sizes.of("qwen2").withType(type), 44);
    Path whole = model.writeGguf(folder.resolve("tiny.gguf"));
    List<Path> parts = model.writeParts(folder, 3);
    for (Path given : parts) {
      try (HostEngine one = load(whole);
          HostEngine split = load(given)) {
        assertThat(logits(split)).isEqualTo(logits(one));
        assertThat(split.fingerprint()).isEqualTo(one.fingerprint());
        assertThat(split.weightBytes()).isEqualTo(one.weightBytes());
        assertThat(estimatedBytes(given)).isEqualTo(estimatedBytes(whole));
        for (Path part : parts) {
          assertThat(Mappings.hold(part)).as("%s", part).isEqualTo(type.isFloat());
        }
      }
      for (Path part : parts) {
        assertThat(Mappings.hold(part)).as("%s", part).isFalse();
      }
    }
  }

  private HostEngine load(Path file) {
    return HostEngine.load(
        GgufFile.open(file),
        new ScalarKernels(),
        workers,
        MemoryPool.unlimited(),
        (done, inAll) -> {});
  }

  private static long estimatedBytes(Path file) {
    try (GgufFile opened = GgufFile.open(file)) {
      return TensorPlan.of(ModelConfig.of(opened), opened).loadedBytes();
    }
  }

  private static float[] logits(HostEngine engine) {
    try (KvCache cache = CacheSpec.DEFAULT.newCache(engine.config().cacheShape())) {
      Batch batch = new Batch();
      for (int token : TOKENS) {
        batch.add(cache, token, true);
      }
      engine.forward(batch);
      return batch.logits().clone();
    }
  }
}
