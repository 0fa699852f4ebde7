package dev.kvasir.codec.mead;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kernel.CodeBands;
import dev.kvasir.kernel.NibbleRows;
import dev.kvasir.kernel.RowCodeBlock;
import dev.kvasir.kernel.RowCodeLayout;
import dev.kvasir.kernel.ScalarKernels;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RowEncoderTest {
  private static final int WIDTH = 64;

  private final Random random = new Random(9);
  private final float[] ones = filled(1);
  private final NibbleRows nothing =
      new NibbleRows(
          MemorySegment.ofArray(new byte[WIDTH / 2]),
          WIDTH / 2,
          WIDTH,
          new float[WIDTH],
          new float[WIDTH]);

  private static float[] filled(float number) {
    float[] numbers = new float[WIDTH];
    Arrays.fill(numbers, number);
    return numbers;
  }

  private static RowCodeLayout codes(int bits) {
    int[] widths = new int[WIDTH];
    Arrays.fill(widths, bits);
    return new RowCodeLayout(widths, filled(UnitVarianceSteps.step(bits) / 2));
  }

  private float[] gaussian(double deviation) {
    float[] x = new float[WIDTH];
    for (int i = 0; i < WIDTH; i++) {
      x[i] = (float) (deviation * random.nextGaussian());
    }
    return x;
  }

  private static double squares(float[] x) {
    double sum = 0;
    for (float each : x) {
      sum += each * (double) each;
    }
    return sum;
  }

  /** The encoder's error equals that of the kernel's decoding. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
  void theErrorMatchesDecoding(int bits) {
    RowCodeLayout layout = codes(bits);
    float[] x = gaussian(1.3);
    float[] left = x.clone();
    MemorySegment out =
        MemorySegment.ofArray(new byte[layout.rowBytes() + RowCodeLayout.OVERREAD_BYTES]);
    new RowEncoder(WIDTH).encode(layout, left, 0, ones, out, 0, 1);
    float[] decoded = new float[WIDTH];
    CodeBands bands = CodeBands.of(List.of(layout), 1);
    RowCodeBlock block =
        new RowCodeBlock().set(out, 0, bands, nothing, nothing.lows(), new byte[1], new int[1]);
    new ScalarKernels().rowCodes().decode(block, decoded);
    for (int i = 0; i < WIDTH; i++) {
      assertThat(x[i] - decoded[i]).as("channel %d", i).isEqualTo(left[i]);
    }
  }

  /** Scales even out the deviations of vectors within their range. */
  @ParameterizedTest
  @ValueSource(doubles = {0.4, 0.7, 1, 1.5, 2})
  void theErrorIsProportionalToTheDeviation(double deviation) {
    RowCodeLayout layout = codes(2);
    MemorySegment out =
        MemorySegment.ofArray(new byte[layout.rowBytes() + RowCodeLayout.OVERREAD_BYTES]);
    double left = 0;
    double all = 0;
    for (int i = 0; i < 300; i++) {
      float[] x = gaussian(deviation);
      all += squares(x);
      new RowEncoder(WIDTH).encode(layout, x, 0, ones, out, 0, 1);
      left += squares(x);
    }
    assertThat(left / all).isBetween(0.09, 0.15);
  }

  @ParameterizedTest
  @ValueSource(floats = {0, 1e-30f, 1e30f, -1e30f})
  void extremesAreEncodedToo(float number) {
    RowCodeLayout layout = codes(3);
    MemorySegment out =
        MemorySegment.ofArray(new byte[layout.rowBytes() + RowCodeLayout.OVERREAD_BYTES]);
    float[] x = filled(number);
    new RowEncoder(WIDTH).encode(layout, x, 0, ones, out, 0, 1);
    for (float each : x) {
      assertThat(each).isFinite();
    }
  }
}
