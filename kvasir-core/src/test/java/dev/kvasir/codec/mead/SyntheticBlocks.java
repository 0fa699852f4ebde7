package dev.kvasir.codec.mead;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.profile.Profile;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import org.assertj.core.data.Offset;

/** Blocks of synthetic tokens, the same for every codec. */
final class SyntheticBlocks {
  static final CacheShape SHAPE = new CacheShape(2, 2, 24, 20);

  /** The layer whose pages are tested. */
  static final int LAYER = 1;

  private static final int TOKENS = Page.TOKENS;
  private static final Kernels KERNELS = new ScalarKernels();

  private SyntheticBlocks() {}

  /** Returns the context of a model that owns the tables. */
  static CacheContext context(ModelTables tables) {
    return CacheContext.unknown()
        .withTables(Optional.of(tables))
        .withRotation(
            Optional.of(new Rope(RopeLayout.HALVES, RopeFrequencies.unscaled(10_000, 16))))
        .withProfile(Optional.of(SyntheticMeadTables.addTo(Profile.empty("none"), SHAPE)));
  }

  /** Gives all tokens of a block the same attention, and some of them many times that. */
  static void observeAttention(SequenceCodec codec, int block, int... sinks) {
    for (int token = 0; token < TOKENS; token++) {
      int place = token;
      int[] weights = {Arrays.stream(sinks).anyMatch(sink -> sink == place) ? 5_000 : 100};
      for (int layer = 0; layer < SHAPE.layers(); layer++) {
        for (int head = 0; head < SHAPE.kvHeads(); head++) {
          codec.observeAttention(layer, head, block * TOKENS + token, weights, 1);
        }
      }
    }
    codec.commit((block + 1) * TOKENS);
  }

  /** Quantizes a block in all layers, returns the page of one and closes the others. */
  static Page quantizeBlock(SequenceCodec codec, int block) {
    try (Page other = codec.quantize(0, block * TOKENS, keys(block), values(block))) {
      assertThat(other.codeBytes()).isPositive();
    }
    return codec.quantize(LAYER, block * TOKENS, keys(block), values(block));
  }

  static float[] keys(int block) {
    return halves(SHAPE.kvHeads() * TOKENS * SHAPE.keyDim(), 10L * block);
  }

  static float[] values(int block) {
    return halves(SHAPE.kvHeads() * TOKENS * SHAPE.valueDim(), 10L * block + 1);
  }

  /** Returns numbers rounded to halves, as a cache stores them. */
  static float[] halves(int count, long seed) {
    Random random = new Random(seed);
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = Float.float16ToFloat(Float.floatToFloat16((float) random.nextGaussian()));
    }
    return x;
  }

  static float[] expandedKeys(Page page, int head) {
    float[] out = new float[TOKENS * SHAPE.keyDim()];
    page.dequantizeKeys(new PageWorkspace(KERNELS), head, TOKENS, out);
    return out;
  }

  static float[] expandedValues(Page page, int head) {
    float[] out = new float[TOKENS * SHAPE.valueDim()];
    page.dequantizeValues(new PageWorkspace(KERNELS), head, TOKENS, out);
    return out;
  }

  /** Returns whether a token's keys and values are restored bit by bit. */
  static boolean isExact(Page page, int block, int token) {
    boolean exact = true;
    for (int head = 0; head < SHAPE.kvHeads(); head++) {
      exact &= isSame(expandedKeys(page, head), keys(block), head, token, SHAPE.keyDim());
      exact &= isSame(expandedValues(page, head), values(block), head, token, SHAPE.valueDim());
    }
    return exact;
  }

  private static boolean isSame(float[] found, float[] given, int head, int token, int width) {
    int from = (head * TOKENS + token) * width;
    return Arrays.equals(found, token * width, (token + 1) * width, given, from, from + width);
  }

  /** Asserts that attention on a page equals attention on its dequantized vectors. */
  static void assertAttention(Page page, int head) {
    int rows = 3;
    int keyDim = SHAPE.keyDim();
    int valueDim = SHAPE.valueDim();
    float[] queries = halves(rows * keyDim, 99);
    float[] scores = new float[rows * TOKENS];
    float[] weights = halves(rows * TOKENS, 98);
    for (int i = 0; i < weights.length; i++) {
      weights[i] = Math.abs(weights[i]);
    }
    float[] accumulator = new float[rows * valueDim];
    PageReaders readers = new PageReaders(KERNELS, keyDim, valueDim);
    readers.beginPass();
    PageReader reader = page.reader(readers);
    reader.score(page, head, queries, rows, scores);
    reader.accumulate(page, head, weights, rows, accumulator);
    readers.endPass(rows, accumulator);
    float[] keys = expandedKeys(page, head);
    float[] values = expandedValues(page, head);
    for (int row = 0; row < rows; row++) {
      for (int token = 0; token < TOKENS; token++) {
        double score = 0;
        for (int i = 0; i < keyDim; i++) {
          score += (double) queries[row * keyDim + i] * keys[token * keyDim + i];
        }
        assertThat((double) scores[row * TOKENS + token]).isCloseTo(score, Offset.offset(1e-3));
      }
      for (int i = 0; i < valueDim; i++) {
        double sum = 0;
        for (int token = 0; token < TOKENS; token++) {
          sum += (double) weights[row * TOKENS + token] * values[token * valueDim + i];
        }
        // 128 weights, each rounded to a 32,767th of the largest, which is about three
        assertThat((double) accumulator[row * valueDim + i]).isCloseTo(sum, Offset.offset(3e-3));
      }
    }
  }
}
