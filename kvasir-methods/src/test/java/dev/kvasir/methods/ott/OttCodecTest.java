package dev.kvasir.methods.ott;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.page.HeadShape;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class OttCodecTest {
  private static final int DIM = 16;
  private static final int SMALL = 77;

  /** The case the method is designed for: a channel that is large except in one token. */
  @Test
  void oneSmallKeyDoesNotStretchTheRange() {
    float[] keys = keys();
    float[] values = keys();
    OttCodec codec =
        new OttCodec(
            new OutlierTokenLayout(1, 1, DIM, DIM, 128),
            HeadShape.uniform(DIM, 2, 128, 2, 128),
            OperandPrecision.EXACT);
    float[] found = new float[keys.length];
    try (Page page = codec.quantize(0, 0, keys.clone(), values.clone())) {
      page.dequantizeKeys(new PageWorkspace(new ScalarKernels()), 0, Page.TOKENS, found);
    }
    for (int token = 0; token < Page.TOKENS; token++) {
      assertThat(Math.abs(found[token * DIM] - keys[token * DIM])).isLessThan(1);
    }
    int at = SMALL * DIM;
    assertThat(Arrays.copyOfRange(found, at, at + DIM))
        .isEqualTo(Arrays.copyOfRange(keys, at, at + DIM));
  }

  /** Returns keys whose channel 0 is between 58 and 62, except for zero in one token. */
  private static float[] keys() {
    Random random = new Random(3);
    float[] x = new float[Page.TOKENS * DIM];
    for (int i = 0; i < x.length; i++) {
      float number = random.nextInt(-20, 21) / 10f + (i % DIM == 0 ? 60 : 0);
      boolean small = i / DIM == SMALL;
      x[i] = Float.float16ToFloat(Float.floatToFloat16(small ? 0.25f : number));
    }
    return x;
  }
}
