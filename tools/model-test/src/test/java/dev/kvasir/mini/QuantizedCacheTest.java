package dev.kvasir.mini;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.GenerationListener;
import dev.kvasir.SamplingOptions;
import dev.kvasir.SessionOptions;
import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import dev.kvasir.sampling.Sampler;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The effect of cache quantization on the bundled model. */
class QuantizedCacheTest {
  private static final int TOKENS = 512;
  private static final int STEP = 128;

  @TempDir private static Path folder;
  private static LoadedModel model;

  /** For tests that count bytes and compare bits. */
  private static LoadedModel shallow;

  @BeforeAll
  static void load() {
    model = LoadedModel.bundled();
    shallow = LoadedModel.load(ShallowModel.write(folder.resolve("shallow.gguf")));
  }

  @AfterAll
  static void close() {
    model.close();
    shallow.close();
  }

  private static int[] anyText(int tokens) {
    return new Random(1).ints(tokens, 300, 4000).toArray();
  }

  /**
   * Checks the answers of the records and of the chain, and the first sum, with a 4-bit context.
   */
  @Test
  void fourBitsLeaveTheGoldenAnswersUnchanged() throws IOException {
    SessionOptions quantized =
        SessionOptions.builder().cache(CacheSpec.parse("kivi:4,window=0")).build();
    for (Golden golden : Golden.all()) {
      try (ModelSession full = model.newSession();
          ModelSession session = model.newSession(quantized)) {
        GenerationSettings options =
            GenerationSettings.greedy().withMaxTokens(golden.greedy().length);
        String expected = full.generate(golden.ids(), options, piece -> {}).text();
        assertThat(session.generate(golden.ids(), options, piece -> {}).text()).isEqualTo(expected);
      }
    }
  }

  /**
   * Later chunks attend to a quantized context, so only the exact prefill equals half precision.
   */
  @Test
  void anExactPrefillComputesThePromptInFullPrecision() {
    int[] prompt = anyText(4 * 256); // whole steps, which chunked prefill quantizes
    GenerationSettings one = GenerationSettings.greedy().withMaxTokens(1);
    SessionOptions quantized = SessionOptions.builder().cache(CacheSpec.parse("kivi:1")).build();
    try (ModelSession full = shallow.newSession();
        ModelSession exact =
            shallow.newSession(quantized.toBuilder().prefill(Prefill.EXACT).build());
        ModelSession chunked = shallow.newSession(quantized)) {
      String expected = full.generate(prompt, one, piece -> {}).text();
      List<Long> windows = new ArrayList<>();
      String found = exact.generate(prompt, one, windowsOf(exact, windows)).text();
      assertThat(found).isEqualTo(expected);
      assertThat(windows.getLast())
          .as("all in full precision until the prompt has been read")
          .isEqualTo(full.cache().bytes().total());
      chunked.generate(prompt, one, piece -> {});
      assertThat(exact.cache().bytes()).as("then quantized").isEqualTo(chunked.cache().bytes());
      int block = 3; // earlier ones are computed before anything is quantized
      assertThat(Arrays.equals(keys(exact, 1, block), keys(chunked, 1, block))).isFalse();
    }
  }

  @Test
  void aChunkedPrefillHoldsNoMoreThanAStepUnquantized() {
    int[] prompt = anyText(1500);
    SessionOptions quantized = SessionOptions.builder().cache(CacheSpec.parse("kivi:2")).build();
    GenerationSettings one = GenerationSettings.greedy().withMaxTokens(1);
    long tokenBytes = 2 * shallow.config().cacheShape().valuesPerToken();
    try (ModelSession session = shallow.newSession(quantized)) {
      List<Long> windows = new ArrayList<>();
      session.generate(prompt, one, windowsOf(session, windows));
      assertThat(windows).hasSizeGreaterThan(5);
      // The residual window and a partial page on either side of it.
      assertThat(Collections.max(windows)).isLessThanOrEqualTo((128 + 2 * 128) * tokenBytes);
    }
  }

  /** Records the full-precision bytes after each prefill step. */
  private static GenerationListener windowsOf(ModelSession session, List<Long> windows) {
    return new GenerationListener() {
      @Override
      public void text(String piece) {}

      @Override
      public void promptProgress(int done, int total) {
        windows.add(session.cache().bytes().window());
      }
    };
  }

  private static float[] keys(ModelSession session, int layer, int block) {
    float[] keys = new float[128 * shallow.config().headDim()];
    session.cache().view(layer, block).expandKeys(new ScalarKernels(), 0, 128, keys);
    return keys;
  }

  @Test
  void fourBitsStayCloseToHalfPrecision() {
    double four = divergence("kivi:4");
    System.out.printf(
        "mean KL divergence of kivi:4 from fp16 over %d streamed tokens: %.5f%n", TOKENS, four);
    assertThat(four).isLessThan(0.01).isPositive();
  }

  /** Generates eight texts in one batch and concatenates them. */
  private static int[] sampleText() {
    int texts = 8;
    int each = TOKENS / texts;
    int[] tokens = new int[TOKENS];
    Sampler sampler =
        new Sampler(SamplingOptions.greedy().toBuilder().temperature(1).seed(1).build());
    Batch batch = new Batch();
    List<KvCache> caches = new ArrayList<>();
    for (int t = 0; t < texts; t++) {
      caches.add(CacheSpec.DEFAULT.newCache(model.config().cacheShape()));
    }
    for (int i = 1; i < each; i++) {
      batch.clear();
      for (int t = 0; t < texts; t++) {
        batch.add(caches.get(t), tokens[t * each + i - 1], true);
      }
      model.forward(batch);
      for (int t = 0; t < texts; t++) {
        tokens[t * each + i] =
            sampler.sample(batch.logits(), batch.logitsAt(t), batch.vocabulary());
      }
    }
    caches.forEach(KvCache::close);
    return tokens;
  }

  private static double divergence(String spec) {
    int[] text = sampleText();
    Batch full = new Batch();
    Batch quantized = new Batch();
    double sum = 0;
    try (KvCache fullCache = CacheSpec.DEFAULT.newCache(model.config().cacheShape());
        KvCache quantizedCache = CacheSpec.parse(spec).newCache(model.config().cacheShape())) {
      for (int from = 0; from < text.length; from += STEP) {
        forward(full, fullCache, text, from);
        forward(quantized, quantizedCache, text, from);
        for (int i = 0; i < STEP; i++) {
          sum += divergence(full.logits(), quantized.logits(), full.logitsAt(i), full.vocabulary());
        }
      }
    }
    return sum / text.length;
  }

  private static void forward(Batch batch, KvCache cache, int[] text, int from) {
    batch.clear();
    for (int i = from; i < from + STEP; i++) {
      batch.add(cache, text[i], true);
    }
    model.forward(batch);
  }

  /** Returns KL(p || q) of the distributions of two rows of logits. */
  private static double divergence(float[] p, float[] q, int at, int count) {
    double pNorm = logOfSum(p, at, count);
    double qNorm = logOfSum(q, at, count);
    double sum = 0;
    for (int i = at; i < at + count; i++) {
      double logP = p[i] - pNorm;
      sum += Math.exp(logP) * (logP - (q[i] - qNorm));
    }
    return sum;
  }

  private static double logOfSum(float[] x, int at, int count) {
    double most = Double.NEGATIVE_INFINITY;
    for (int i = at; i < at + count; i++) {
      most = Math.max(most, x[i]);
    }
    double sum = 0;
    for (int i = at; i < at + count; i++) {
      sum += Math.exp(x[i] - most);
    }
    return most + Math.log(sum);
  }
}
