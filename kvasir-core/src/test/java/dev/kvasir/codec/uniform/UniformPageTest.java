package dev.kvasir.codec.uniform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.page.HalfRounding;
import dev.kvasir.page.HeadShape;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UniformPageTest {
  private static final PageWorkspace WORKSPACE = new PageWorkspace(new ScalarKernels());
  private static final long SEED = 3;
  private static final int TOKENS = Page.TOKENS;

  @ParameterizedTest
  @CsvSource({
    "64, 1, 32",
    "64, 2, 128",
    "80, 3, 64",
    "96, 4, 32",
    "128, 2, 128",
    "256, 8, 64",
    "48, 2, 32"
  })
  void everyValueIsWithinHalfAStep(int headDim, int bits, int group) {
    int heads = 2;
    List<HeadShape> shape =
        Collections.nCopies(heads, HeadShape.uniform(headDim, bits, group, bits, group));
    float[] keys = random(heads * TOKENS * headDim, SEED);
    float[] values = random(heads * TOKENS * headDim, SEED + 1);
    try (UniformPage page = UniformPage.quantize(shape, OperandPrecision.EXACT, keys, values)) {
      float[] out = new float[TOKENS * headDim];
      for (int head = 0; head < heads; head++) {
        int at = head * TOKENS * headDim;
        page.dequantizeKeys(WORKSPACE, head, TOKENS, out);
        for (int channel = 0; channel < headDim; channel++) {
          for (int first = 0; first < TOKENS; first += group) {
            assertWithinHalfAStep(keys, at, out, first * headDim + channel, headDim, group, bits);
          }
        }
        page.dequantizeValues(WORKSPACE, head, TOKENS, out);
        for (int token = 0; token < TOKENS; token++) {
          for (int first = 0; first < headDim; first += group) {
            int count = Math.min(group, headDim - first);
            assertWithinHalfAStep(values, at, out, token * headDim + first, 1, count, bits);
          }
        }
      }
    }
  }

  private static void assertWithinHalfAStep(
      float[] original, int originalAt, float[] out, int at, int stride, int count, int bits) {
    float least = Float.POSITIVE_INFINITY;
    float most = Float.NEGATIVE_INFINITY;
    for (int i = 0; i < count; i++) {
      least = Math.min(least, original[originalAt + at + i * stride]);
      most = Math.max(most, original[originalAt + at + i * stride]);
    }
    // The stored step is up to one fp16 unit wider, at each end.
    float step = (most - least) / ((1 << bits) - 1) * 1.002f + 2e-3f * Math.abs(least);
    for (int i = 0; i < count; i++) {
      float expected = original[originalAt + at + i * stride];
      assertThat(out[at + i * stride]).isCloseTo(expected, within(step / 2 * 1.001f));
    }
  }

  @Test
  void bytesAreTheSumOfTheParts() {
    List<HeadShape> shape = Collections.nCopies(2, HeadShape.uniform(64, 2, 32, 4, 32));
    long before = CountedArena.liveBytes();
    float[] vectors = new float[2 * TOKENS * 64];
    try (UniformPage page = UniformPage.quantize(shape, OperandPrecision.EXACT, vectors, vectors)) {
      long codes = 2L * TOKENS * 64 * (2 + 4) / 8;
      long scales = 2L * 2 * 2 * (4 * 64 + 2 * TOKENS);
      assertThat(page.codeBytes()).isEqualTo(codes);
      assertThat(page.scaleBytes()).isEqualTo(scales);
      assertThat(CountedArena.liveBytes() - before).isEqualTo(codes + scales);
    }
    assertThat(CountedArena.liveBytes()).isEqualTo(before);
  }

  @Test
  void tinyAndHugeRangesSurviveHalfPrecision() {
    List<HeadShape> shape = List.of(HeadShape.uniform(16, 2, 128, 2, 128));
    for (float size : new float[] {1e-7f, 1e-3f, 1, 1e3f, 60000}) {
      float[] vectors = random(TOKENS * 16, SEED);
      for (int i = 0; i < vectors.length; i++) {
        float clipped = Math.clamp(vectors[i], -1f, 1f) * size;
        vectors[i] = Float.float16ToFloat(Float.floatToFloat16(clipped));
      }
      try (UniformPage page =
          UniformPage.quantize(shape, OperandPrecision.EXACT, vectors, vectors)) {
        float[] out = new float[TOKENS * 16];
        page.dequantizeKeys(WORKSPACE, 0, TOKENS, out);
        for (int i = 0; i < out.length; i++) {
          assertThat(out[i]).isCloseTo(vectors[i], within(size * 0.34f + 6e-8f));
        }
      }
    }
  }

  @Test
  void aRangeWiderThanTheLargestHalfStaysFinite() {
    float[] vectors = new float[TOKENS * 16];
    for (int i = 0; i < vectors.length; i++) {
      vectors[i] = i % 3 == 0 ? -60000 : 60000;
    }
    try (UniformPage page =
        UniformPage.quantize(
            List.of(HeadShape.uniform(16, 1, 128, 1, 128)),
            OperandPrecision.EXACT,
            vectors,
            vectors)) {
      float[] out = new float[vectors.length];
      page.dequantizeKeys(WORKSPACE, 0, TOKENS, out);
      for (int i = 0; i < out.length; i++) {
        assertThat(out[i]).isEqualTo(i % 3 == 0 ? -60000 : 60000, within(55000f));
      }
    }
  }

  @Test
  void fp16RoundsTowardsTheRequestedSide() {
    Random random = new Random(SEED);
    for (int i = 0; i < 100_000; i++) {
      float x = (float) (random.nextGaussian() * Math.exp(random.nextInt(20) - 12));
      float floor = Float.float16ToFloat(HalfRounding.floor(x));
      float ceil = Float.float16ToFloat(HalfRounding.ceil(x));
      assertThat(floor).isLessThanOrEqualTo(x);
      assertThat(ceil).isGreaterThanOrEqualTo(x);
      assertThat(ceil - floor).isLessThanOrEqualTo(Math.max(Math.abs(x) * 0x1p-9f, 0x1p-23f));
    }
  }

  /**
   * Shows why scales and zeros are fp16: many key channels are far from zero, and their error is
   * the rounding of the zero point. That of bf16 is eight times as large.
   */
  @Test
  void fp16ScalesSuitChannelsFarFromZeroBetterThanBf16() {
    Random random = new Random(SEED);
    double[] half = new double[2];
    double[] brain = new double[2];
    for (int offset = 0; offset < 2; offset++) {
      for (int channel = 0; channel < 500; channel++) {
        float centre = offset == 0 ? 0 : (float) random.nextGaussian() * 20;
        float[] x = new float[TOKENS];
        for (int i = 0; i < TOKENS; i++) {
          x[i] = centre + (float) random.nextGaussian();
        }
        half[offset] += squaredError(x, 4, false);
        brain[offset] += squaredError(x, 4, true);
      }
    }
    System.out.printf(
        "squared error with scales in bf16 over that in f16, 4 bits: %.2f around zero, %.2f far off%n",
        brain[0] / half[0], brain[1] / half[1]);
    assertThat(brain[0]).isGreaterThan(half[0]);
    assertThat(brain[1] / half[1]).isGreaterThan(brain[0] / half[0]);
  }

  private static double squaredError(float[] x, int bits, boolean bf16) {
    float least = Float.POSITIVE_INFINITY;
    float most = Float.NEGATIVE_INFINITY;
    for (float value : x) {
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
    int highest = (1 << bits) - 1;
    float zero = bf16 ? bf16Below(least) : half(HalfRounding.floor(least));
    float range = (most - zero) / highest;
    float scale = bf16 ? -bf16Below(-range) : half(HalfRounding.ceil(range));
    double error = 0;
    for (float value : x) {
      error += Math.pow(Math.round((value - zero) / scale) * scale + zero - value, 2);
    }
    return error;
  }

  private static float half(short bits) {
    return Float.float16ToFloat(bits);
  }

  /** Returns the largest bf16 number that is not above {@code x}. */
  private static float bf16Below(float x) {
    int cut = Float.floatToRawIntBits(x) & 0xFFFF0000;
    float truncated = Float.intBitsToFloat(cut);
    return truncated > x ? Float.intBitsToFloat(cut + 0x10000) : truncated;
  }

  private static float[] random(int count, long seed) {
    Random random = new Random(seed);
    float[] floats = new float[count];
    for (int i = 0; i < count; i++) {
      floats[i] = (float) random.nextGaussian() + i % 7;
    }
    return floats;
  }
}
