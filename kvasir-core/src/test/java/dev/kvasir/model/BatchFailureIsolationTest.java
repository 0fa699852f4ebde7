package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheFullException;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.PagedCache;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.engine.Batch;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.model.TinyModel.Sizes;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a sequence that fails in a batch fails alone. */
class BatchFailureIsolationTest {
  /** A token whose embedding a test sets to NaN. */
  private static final int NO_NUMBER = 3;

  @TempDir private Path folder;
  private final WorkerPool workers = new WorkerPool(2);
  private TinyModel tiny;
  private HostEngine engine;

  @BeforeEach
  void load() {
    tiny = new TinyModel(Sizes.of("llama").withHeads(4, 2, 16), 6);
    engine = load(tiny);
  }

  private HostEngine load(TinyModel model) {
    return TinyEngine.ofGguf(model.writeGguf(folder.resolve("tiny.gguf")), workers);
  }

  @AfterEach
  void close() {
    engine.close();
    workers.close();
  }

  /** A codec whose quantization always fails. */
  private static final class Refusing implements StatelessCodec {
    boolean refuses = true;

    @Override
    public Page quantize(
        SharedArena memory, int layer, int position, float[] keys, float[] values) {
      if (refuses) {
        throw new InvalidInputException("made up");
      }
      return new EmptyPage();
    }

    @Override
    public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
      return new EmptyPage();
    }

    @Override
    public long pageBytes() {
      return 0;
    }

    @Override
    public long codeBytes() {
      return 0;
    }
  }

  /** A page of zeros. */
  private static final class EmptyPage implements Page {
    @Override
    public void dequantizeKeys(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
      Arrays.fill(out, 0);
    }

    @Override
    public void dequantizeValues(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
      Arrays.fill(out, 0);
    }

    @Override
    public long codeBytes() {
      return 0;
    }

    @Override
    public long scaleBytes() {
      return 0;
    }

    @Override
    public byte[] serialize() {
      return new byte[0];
    }

    @Override
    public void close() {}
  }

  @Test
  void aFullSequenceDoesNotStopOthers() {
    try (KvCache full = newCache("pmkvq:2,budget=80KiB");
        KvCache other = newCache("fp16")) {
      fill(full, full.capacity());
      Batch batch = new Batch();
      batch.add(full, 3, true);
      int index = batch.add(other, 7, true);
      engine.step(batch);
      assertThat(batch.failure(full)).containsInstanceOf(CacheFullException.class);
      assertThat(batch.failure(other)).isEmpty();
      assertThat(full.length()).isEqualTo(full.capacity());
      assertThat(other.length()).isEqualTo(1);
      assertThat(Logits.row(batch, index)).isEqualTo(alone("fp16", 7));
      assertThatThrownBy(batch::requireNoFailure).isInstanceOf(CacheFullException.class);
    }
  }

  @Test
  void afterFailedQuantizationASequenceKeepsItsTokensAndMayRetry() {
    Refusing codec = new Refusing();
    CacheConfig settings = new CacheConfig(Precision.F16, 0, 0, Optional.of(codec));
    try (KvCache first = newCache("fp16");
        KvCache refused = new PagedCache(engine.config().cacheShape(), settings);
        KvCache last = newCache("fp16")) {
      Batch batch = new Batch();
      for (KvCache cache : new KvCache[] {first, refused, last}) {
        IntStream.range(0, 130).forEach(i -> batch.add(cache, i % 50, false));
      }
      assertThatThrownBy(() -> engine.forward(batch)).hasMessage("made up");
      assertThat(batch.failure(refused)).isPresent();
      for (KvCache cache : new KvCache[] {first, refused, last}) {
        assertThat(cache.length()).isEqualTo(130);
        assertThat(cache.view(0, 0).page()).isNull();
      }
      codec.refuses = false;
      refused.quantizeWindow();
      assertThat(refused.view(0, 0).page()).isInstanceOf(EmptyPage.class);
    }
  }

  @Test
  void aSequenceWithInvalidKeysFailsAlone() {
    engine.close();
    tiny.tensors.computeIfPresent(
        "model.embed_tokens.weight", (name, tensor) -> tensor.withRow(NO_NUMBER, Float.NaN));
    engine = load(tiny);
    try (KvCache bad = newCache("fp16");
        KvCache good = newCache("fp16")) {
      Batch batch = new Batch();
      batch.add(bad, NO_NUMBER, true);
      int index = batch.add(good, 7, true);
      engine.step(batch);
      assertThat(batch.failure(bad)).isPresent();
      assertThat(batch.failure(bad).get()).hasMessageContaining("holds finite numbers only");
      assertThat(bad.length()).isZero();
      assertThat(good.length()).isEqualTo(1);
      assertThat(Logits.row(batch, index)).isEqualTo(alone("fp16", 7));
    }
  }

  @Test
  void passesOfABurstAreNotRetained() throws InterruptedException {
    int crowd = 12;
    CountDownLatch done = new CountDownLatch(crowd);
    for (int i = 0; i < crowd; i++) {
      Thread.ofPlatform().start(() -> stepOften(done));
    }
    done.await();
    assertThat(engine.idlePasses()).isBetween(1, 2);
  }

  private void stepOften(CountDownLatch done) {
    try (KvCache cache = newCache("fp16")) {
      fill(cache, 40);
    } finally {
      done.countDown();
    }
  }

  private KvCache newCache(String spec) {
    return engine.newCache(CacheSpec.parse(spec), Optional.empty(), TinyModel.CONTEXT);
  }

  private void fill(KvCache cache, int length) {
    Batch batch = new Batch();
    while (cache.length() < length) {
      batch.clear();
      batch.add(cache, cache.length() % 50, false);
      engine.forward(batch);
    }
  }

  private float[] alone(String spec, int token) {
    try (KvCache cache = newCache(spec)) {
      Batch batch = new Batch();
      batch.add(cache, token, true);
      engine.forward(batch);
      return Logits.row(batch, 0);
    }
  }
}
