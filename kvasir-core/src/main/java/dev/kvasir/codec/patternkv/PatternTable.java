package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import java.util.Arrays;

/**
 * A number for each pattern and query row: scores to look up by token, or weights summed by
 * pattern. The rows of a pattern are adjacent, and tokens are processed four rows at a time. An
 * index is then read once for four rows. Four independent sums hide the latency of repeated
 * additions to the same pattern.
 */
final class PatternTable {
  private static final int PAGE = Page.TOKENS;
  private static final int ROWS = PageReader.MAX_ROWS;

  /** One for each byte value, including {@link PatternSet#NONE}. */
  private static final int INDICES = PatternSet.MAX_COUNT + 1;

  private final float[] numbers = new float[INDICES * ROWS]; // (indices, ROWS)
  private final float[] transposed = new float[INDICES * ROWS]; // (ROWS, indices)
  private final RowBlock patternRows = new RowBlock();
  private final RowBlock queryRows = new RowBlock();
  private final RowBlock numberRows = new RowBlock();
  private final RowBlock accumulatorRows = new RowBlock();

  void clear() {
    Arrays.fill(numbers, 0);
  }

  /** Sets the products of queries with the patterns from {@code first} to {@code end}. */
  void multiply(
      Kernels kernels, float[] queries, int rows, float[] patterns, int first, int end, int depth) {
    patternRows.set(patterns, first * depth, depth, end - first, depth);
    queryRows.set(queries, rows, depth);
    numberRows.set(numbers, first * ROWS, ROWS, end - first, rows);
    kernels.floats().products(patternRows, queryRows, numberRows);
    Arrays.fill(numbers, PatternSet.NONE * ROWS, (PatternSet.NONE + 1) * ROWS, 0);
  }

  /**
   * Adds the number of each token's pattern to its score.
   *
   * @param scores (rows, PAGE)
   * @param indices (PAGE)
   */
  void addTo(float[] scores, byte[] indices, int rows) {
    int row = 0;
    for (; row + 4 <= rows; row += 4) {
      addFour(scores, indices, row);
    }
    for (; row < rows; row++) {
      for (int token = 0; token < PAGE; token++) {
        scores[row * PAGE + token] += numbers[(indices[token] & 0xFF) * ROWS + row];
      }
    }
  }

  private void addFour(float[] scores, byte[] indices, int row) {
    for (int token = 0; token < PAGE; token++) {
      int from = (indices[token] & 0xFF) * ROWS + row;
      int to = row * PAGE + token;
      scores[to] += numbers[from];
      scores[to + PAGE] += numbers[from + 1];
      scores[to + 2 * PAGE] += numbers[from + 2];
      scores[to + 3 * PAGE] += numbers[from + 3];
    }
  }

  /**
   * Adds each token's weight to the number of its pattern.
   *
   * @param probabilities (rows, PAGE)
   */
  void collect(Kernels kernels, float[] probabilities, PatternLabels labels, int kvHead, int rows) {
    kernels
        .patterns()
        .scatterAdd(probabilities, rows, numbers, ROWS, labels.indices(), labels.offset(kvHead));
  }

  /** Scales a row of the first {@code count} patterns. */
  void scale(int row, int count, float factor) {
    for (int at = row; at < count * ROWS; at += ROWS) {
      numbers[at] *= factor;
    }
  }

  /**
   * Computes {@code accumulator[row] += sum over patterns of number * pattern}, for the first
   * {@code count}.
   */
  void accumulate(
      Kernels kernels, int rows, float[] patterns, int count, int depth, float[] accumulator) {
    for (int row = 0; row < rows; row++) {
      for (int i = 0; i < count; i++) {
        transposed[row * INDICES + i] = numbers[i * ROWS + row];
      }
    }
    numberRows.set(transposed, 0, INDICES, rows, count);
    patternRows.set(patterns, count, depth);
    kernels
        .floats()
        .weightedSums(numberRows, patternRows, accumulatorRows.set(accumulator, rows, depth));
  }
}
