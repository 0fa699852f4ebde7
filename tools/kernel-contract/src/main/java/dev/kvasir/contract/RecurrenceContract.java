package dev.kvasir.contract;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Recurrences have the bits of the scalar ones: outputs, states, and what they replace. */
public abstract class RecurrenceContract extends KernelComparison {
  protected RecurrenceContract(Kernels tested) {
    super(tested);
  }

  static IntStream widths() {
    return IntStream.of(1, 3, 4, 6, 8, 15, 16, 17, 32, 64, 67, 100, 128);
  }

  @ParameterizedTest
  @MethodSource("widths")
  void sumsOfProducts(int count) {
    float[] x = randomFloats(count + 1);
    float[] y = randomFloats(count + 2);
    assertSame(
        randomFloats(count + 3),
        (kernels, out) -> kernels.recurrences().addProducts(x, 1, y, 2, out, 3, count));
  }

  @ParameterizedTest
  @MethodSource("widths")
  void shortTexts(int width) {
    compareDeltaNets(5, width, 1);
    compareDeltaNets(8, width, 3);
    compareMambas(5, width, 1);
    compareMambas(8, width, 3);
  }

  /** More tokens than a call takes. */
  @ParameterizedTest
  @CsvSource({"128,128,37", "128,64,70", "7,20,5000"})
  void longTexts(int depth, int width, int tokens) {
    compareDeltaNets(depth, width, tokens);
    compareMambas(depth, width, tokens);
  }

  @Test
  void noTokens() {
    compareDeltaNets(8, 8, 0);
    compareMambas(8, 8, 0);
  }

  /** The arrays of a call are parts of one, as the engine has them. */
  private void compareDeltaNets(int depth, int width, int tokens) {
    int inputs = 2 * depth + width + 3;
    float[] factors = factors(tokens, 5);
    float[] all = randomFloats(depth * width + tokens * inputs + tokens * (width + 2));
    float[] keys = randomFloats(tokens * inputs);
    for (int i = 0; i < keys.length; i++) {
      keys[i] /= (float) Math.sqrt(depth);
    }
    assertSame(
        all,
        (kernels, parts) -> {
          float[] state = new float[depth * width];
          System.arraycopy(parts, 0, state, 0, state.length);
          float[] row = keys.clone();
          float[] out = new float[tokens * (width + 2)];
          kernels
              .recurrences()
              .deltaNet(
                  state,
                  RowBlock.of(row, 1, inputs, tokens, depth),
                  RowBlock.of(row, 1 + depth, inputs, tokens, depth),
                  RowBlock.of(row, 2 + 2 * depth, inputs, tokens, width),
                  RowBlock.of(factors, 1, 5, tokens, 2),
                  RowBlock.of(out, 1, width + 2, tokens, width));
          collect(parts, state, row, out);
        });
  }

  private void compareMambas(int depth, int width, int tokens) {
    int inputs = 2 * depth + width + 3;
    float[] factors = factors(tokens, 4);
    float[] all = randomFloats(depth * width + tokens * inputs + tokens * (width + 2));
    float[] rows = randomFloats(tokens * inputs);
    assertSame(
        all,
        (kernels, parts) -> {
          float[] state = new float[depth * width];
          System.arraycopy(parts, 0, state, 0, state.length);
          float[] row = rows.clone();
          float[] out = new float[tokens * (width + 2)];
          kernels
              .recurrences()
              .mamba(
                  state,
                  RowBlock.of(row, 1, inputs, tokens, width),
                  RowBlock.of(row, 1 + width, inputs, tokens, depth),
                  RowBlock.of(row, 2 + width + depth, inputs, tokens, depth),
                  RowBlock.of(factors, 0, 4, tokens, 3),
                  RowBlock.of(out, 1, width + 2, tokens, width));
          collect(parts, state, row, out);
        });
  }

  /** Returns factors between 0 and 1, so that states stay finite. */
  private float[] factors(int tokens, int stride) {
    float[] factors = new float[tokens * stride + 1];
    for (int i = 0; i < factors.length; i++) {
      factors[i] = random.nextFloat();
    }
    return factors;
  }

  private static void collect(float[] to, float[]... parts) {
    int at = 0;
    for (float[] part : parts) {
      System.arraycopy(part, 0, to, at, part.length);
      at += part.length;
    }
  }
}
