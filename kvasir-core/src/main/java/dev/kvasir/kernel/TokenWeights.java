package dev.kvasir.kernel;

import dev.kvasir.page.PageSize;

/**
 * The definition of {@link CodebookKernels#tokenWeights}. It sums four rows at once, because each
 * addition of one row has to wait for the previous one.
 */
final class TokenWeights {
  private static final int PAGE = PageSize.TOKENS;

  private TokenWeights() {}

  static void compute(
      float[] probabilities,
      float[] inverseScales,
      float[] scales,
      float[] totals,
      RowBlock weights) {
    int rows = weights.width();
    int row = 0;
    for (; row + 4 <= rows; row += 4) {
      computeFour(probabilities, row, inverseScales, scales, totals, weights);
    }
    for (; row < rows; row++) {
      computeOne(probabilities, row, inverseScales, scales, totals, weights);
    }
  }

  private static void computeFour(
      float[] probabilities,
      int row,
      float[] inverseScales,
      float[] scales,
      float[] totals,
      RowBlock weights) {
    float[] out = weights.values();
    int at = weights.at() + row;
    int stride = weights.stride();
    float total0 = 0;
    float total1 = 0;
    float total2 = 0;
    float total3 = 0;
    for (int token = 0; token < PAGE; token++) {
      int from = row * PAGE + token;
      int to = at + token * stride;
      float probability0 = probabilities[from] * inverseScales[row];
      float probability1 = probabilities[from + PAGE] * inverseScales[row + 1];
      float probability2 = probabilities[from + 2 * PAGE] * inverseScales[row + 2];
      float probability3 = probabilities[from + 3 * PAGE] * inverseScales[row + 3];
      total0 += probability0;
      total1 += probability1;
      total2 += probability2;
      total3 += probability3;
      out[to] = probability0 * scales[token];
      out[to + 1] = probability1 * scales[token];
      out[to + 2] = probability2 * scales[token];
      out[to + 3] = probability3 * scales[token];
    }
    totals[row] += total0;
    totals[row + 1] += total1;
    totals[row + 2] += total2;
    totals[row + 3] += total3;
  }

  private static void computeOne(
      float[] probabilities,
      int row,
      float[] inverseScales,
      float[] scales,
      float[] totals,
      RowBlock weights) {
    float[] out = weights.values();
    float total = 0;
    for (int token = 0; token < PAGE; token++) {
      float probability = probabilities[row * PAGE + token] * inverseScales[row];
      total += probability;
      out[weights.at(token) + row] = probability * scales[token];
    }
    totals[row] += total;
  }
}
