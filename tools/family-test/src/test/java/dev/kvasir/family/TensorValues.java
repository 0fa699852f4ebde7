package dev.kvasir.family;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.IntUnaryOperator;
import java.util.function.UnaryOperator;

/**
 * The values of a tensor in full precision.
 *
 * @param shape outermost dimension first
 */
record TensorValues(float[] floats, int... shape) {
  /**
   * Returns uniform random values that depend only on the seed text, with mean {@code middle} and
   * standard deviation {@code spread}.
   */
  static TensorValues random(String seed, double middle, double spread, int... shape) {
    long hash = 1125899906842597L;
    for (int i = 0; i < seed.length(); i++) {
      hash = 31 * hash + seed.charAt(i);
    }
    SplittableRandom random = new SplittableRandom(hash);
    float[] floats = new float[count(shape)];
    for (int i = 0; i < floats.length; i++) {
      floats[i] = (float) (middle + spread * Math.sqrt(3) * (2 * random.nextDouble() - 1));
    }
    return new TensorValues(floats, shape);
  }

  static TensorValues same(float value, int... shape) {
    float[] floats = new float[count(shape)];
    Arrays.fill(floats, value);
    return new TensorValues(floats, shape);
  }

  private static int count(int... shape) {
    int count = 1;
    for (int size : shape) {
      count *= size;
    }
    return count;
  }

  int rows() {
    return shape[0];
  }

  private int rowSize() {
    return floats.length / rows();
  }

  TensorValues plus(float addend) {
    float[] sums = new float[floats.length];
    for (int i = 0; i < sums.length; i++) {
      sums[i] = floats[i] + addend;
    }
    return new TensorValues(sums, shape);
  }

  /** Applies a function to every value. */
  TensorValues mapped(UnaryOperator<Float> function) {
    float[] results = new float[floats.length];
    for (int i = 0; i < results.length; i++) {
      results[i] = function.apply(floats[i]);
    }
    return new TensorValues(results, shape);
  }

  TensorValues reshaped(int... other) {
    return new TensorValues(floats, other);
  }

  /** Returns {@code count} rows, each copied from the row that {@code from} returns. */
  TensorValues withRows(int count, IntUnaryOperator from) {
    int size = rowSize();
    float[] taken = new float[count * size];
    for (int row = 0; row < count; row++) {
      System.arraycopy(floats, from.applyAsInt(row) * size, taken, row * size, size);
    }
    int[] sizes = shape.clone();
    sizes[0] = count;
    return new TensorValues(taken, sizes);
  }

  TensorValues rows(int first, int count) {
    return withRows(count, row -> first + row);
  }

  /** Returns one slice of the outermost dimension. */
  TensorValues part(int index) {
    int[] sizes = Arrays.copyOfRange(shape, 1, shape.length);
    return rows(index, 1).reshaped(sizes);
  }

  /** Concatenates rows. */
  TensorValues then(TensorValues other) {
    float[] both = Arrays.copyOf(floats, floats.length + other.floats.length);
    System.arraycopy(other.floats, 0, both, floats.length, other.floats.length);
    int[] sizes = shape.clone();
    sizes[0] += other.shape[0];
    return new TensorValues(both, sizes);
  }

  /**
   * Reorders the rows of each head like the conversion to GGUF for families that rotate neighbours:
   * the rows of both halves alternate.
   */
  TensorValues withNeighbouringHalves(int heads) {
    int headDim = rows() / heads;
    return withRows(
        rows(),
        row -> {
          int channel = row % headDim;
          return row - channel + channel / 2 + channel % 2 * (headDim / 2);
        });
  }

  /** Transposes the last two dimensions. */
  TensorValues transposed() {
    int rank = shape.length;
    int rows = shape[rank - 2];
    int columns = shape[rank - 1];
    float[] transposed = new float[floats.length];
    for (int at = 0; at < floats.length; at += rows * columns) {
      for (int row = 0; row < rows; row++) {
        for (int column = 0; column < columns; column++) {
          transposed[at + column * rows + row] = floats[at + row * columns + column];
        }
      }
    }
    int[] sizes = shape.clone();
    sizes[rank - 2] = columns;
    sizes[rank - 1] = rows;
    return new TensorValues(transposed, sizes);
  }

  /** Alternates the rows of this and another tensor for each expert. */
  TensorValues interleaved(TensorValues other) {
    int experts = shape[0];
    int rows = shape[1];
    int size = floats.length / experts / rows;
    float[] mixed = new float[2 * floats.length];
    for (int row = 0; row < experts * rows; row++) {
      System.arraycopy(floats, row * size, mixed, 2 * row * size, size);
      System.arraycopy(other.floats, row * size, mixed, (2 * row + 1) * size, size);
    }
    int[] sizes = shape.clone();
    sizes[1] = 2 * rows;
    return new TensorValues(mixed, sizes);
  }

  long[] longShape() {
    return Arrays.stream(shape).asLongStream().toArray();
  }
}
