package dev.kvasir.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.page.BitCodes;
import dev.kvasir.page.PageSize;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SetBitSumsTest {
  /** Weights are small integers, whose sums are exact in every order. */
  @ParameterizedTest
  @ValueSource(ints = {4, 8})
  void addsTheWeightsOfTokensWhoseBitIsSet(int stride) {
    Random random = new Random(stride);
    int sets = 37;
    byte[] bits = new byte[sets * BitCodes.SET_BYTES];
    random.nextBytes(bits);
    float[] weights = new float[PageSize.TOKENS * stride];
    for (int i = 0; i < weights.length; i++) {
      weights[i] = random.nextInt(1000);
    }
    float[] bins = new float[sets * stride];
    float[] expected = new float[bins.length];
    for (int i = 0; i < bins.length; i++) {
      bins[i] = random.nextInt(1000);
      expected[i] = bins[i];
      for (int token = 0; token < PageSize.TOKENS; token++) {
        int eight = bits[i / stride * BitCodes.SET_BYTES + token / Byte.SIZE];
        if ((eight >> token % Byte.SIZE & 1) != 0) {
          expected[i] += weights[token * stride + i % stride];
        }
      }
    }
    KernelChoice.ofThisProcess()
        .kernels()
        .codebooks()
        .addToSetBits(
            bits,
            sets,
            weights,
            stride,
            MemorySegment.ofArray(new float[CodebookKernels.setBitScratch(stride)]),
            MemorySegment.ofArray(bins));
    assertThat(bins).containsExactly(expected);
  }
}
