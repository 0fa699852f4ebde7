package dev.kvasir.natives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.kernel.CodebookKernels;
import dev.kvasir.kernel.Int8Codebooks;
import dev.kvasir.kernel.PatternKernels;
import dev.kvasir.kernel.RotaryCodes;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.page.PageSize;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;

class NativeCodebooksTest {
  private static final int TOKENS = PageSize.TOKENS;

  private final Random random = new Random(5);
  private final ScalarKernels scalar = new ScalarKernels();
  private final CodebookKernels nativeKernels = new NativeCodebooks();
  private final PatternKernels patterns = new NativePatterns();

  @Test
  void workOfManyCallsIsThatOfOne() {
    int sets = Int8Codebooks.MAX_SETS;
    int pairs = 1024;
    int width = 2 * pairs;
    byte[] indices = randomIndices(sets);
    byte[] numbers = new byte[sets * Int8Codebooks.CODEWORDS * width];
    random.nextBytes(numbers);
    Int8Codebooks codebooks =
        new Int8Codebooks(sets, pairs, numbers, randomFloats(pairs), randomFloats(width));
    float[] scales = randomFloats(TOKENS);
    float[] angles = randomFloats(TOKENS * pairs);
    float[] rotated = new float[TOKENS * width];
    float[] found = rotated.clone();
    short[] scratch = new short[TOKENS * width];
    RotaryCodes codes = new RotaryCodes().set(codebooks, indices, scales, angles, angles);
    scalar.codebooks().rotatedSums(codes, 0, TOKENS, scratch, rotated);
    nativeKernels.rotatedSums(codes, 0, TOKENS, scratch, found);
    assertThat(found).isEqualTo(rotated);

    scalar.patterns().rotate(rotated, 0, TOKENS, pairs, angles, angles, pairs);
    patterns.rotate(found, 0, TOKENS, pairs, angles, angles, pairs);
    assertThat(found).isEqualTo(rotated);

    float[] dots = new float[TOKENS];
    float[] foundDots = dots.clone();
    scalar.codebooks().rowDots(rotated, found, TOKENS, width, dots);
    nativeKernels.rowDots(rotated, found, TOKENS, width, foundDots);
    assertThat(foundDots).isEqualTo(dots);

    int stride = 8;
    float[] bins = randomFloats(sets * Int8Codebooks.CODEWORDS * stride);
    float[] foundBins = bins.clone();
    scalar
        .codebooks()
        .scatterAdd(indices, sets, TOKENS, rotated, stride, MemorySegment.ofArray(bins));
    nativeKernels.scatterAdd(
        indices, sets, TOKENS, rotated, stride, MemorySegment.ofArray(foundBins));
    assertThat(foundBins).isEqualTo(bins);

    int[] rowIndices = random.ints(90, 0, TOKENS).toArray();
    float[] products = new float[9 * rowIndices.length];
    float[] foundProducts = products.clone();
    RowBlock c = RowBlock.of(products, 9, rowIndices.length);
    scalar.patterns().gatheredProducts(rotated, found, rowIndices, 0, pairs, c);
    c.set(foundProducts, 9, rowIndices.length);
    patterns.gatheredProducts(rotated, found, rowIndices, 0, pairs, c);
    assertThat(foundProducts).isEqualTo(products);
  }

  @Test
  void bitsAboveAnIndexAreIgnored() {
    byte[] indices = randomIndices(2);
    byte[] marked = indices.clone();
    for (int i = 0; i < marked.length; i++) {
      marked[i] |= (byte) 0xC0;
    }
    float[] rows = randomFloats(2 * Int8Codebooks.CODEWORDS * 16);
    float[] sums = new float[TOKENS * 16];
    float[] found = sums.clone();
    nativeKernels.gatheredSums(rows, 0, indices, 2, TOKENS, 16, sums);
    nativeKernels.gatheredSums(rows, 0, marked, 2, TOKENS, 16, found);
    assertThat(found).isEqualTo(sums);
  }

  @Test
  void aRowThatIsNotThereIsRefused() {
    float[] a = new float[32];
    float[] b = new float[3 * 32];
    for (int row : new int[] {3, -1, Integer.MAX_VALUE}) {
      RowBlock c = RowBlock.of(a, 1, 2);
      assertThatThrownBy(() -> patterns.gatheredProducts(a, b, new int[] {0, row}, 0, 16, c))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  @Test
  void pairsThatVectorsWouldRunPastAreRefused() {
    float[] x = new float[40];
    assertThatThrownBy(() -> patterns.rotate(x, 0, 1, 20, x, x, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("pairs is 20; expected a multiple of 16");
  }

  private byte[] randomIndices(int sets) {
    byte[] indices = new byte[sets * TOKENS];
    for (int i = 0; i < indices.length; i++) {
      indices[i] = (byte) random.nextInt(Int8Codebooks.CODEWORDS);
    }
    return indices;
  }

  private float[] randomFloats(int count) {
    float[] floats = new float[count];
    for (int i = 0; i < count; i++) {
      floats[i] = (float) random.nextGaussian();
    }
    return floats;
  }
}
