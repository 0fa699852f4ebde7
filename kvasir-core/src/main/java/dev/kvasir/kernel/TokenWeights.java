package dev.kvasir.kernel;

import dev.kvasir.page.PageSize;

/**
 * Weights of a page's tokens by row: what {@link CodebookKernels#weighTokens} is. Sums of four rows
 * go on at once, where each must wait for the last of its own.
 */
final class TokenWeights {
  private static final int PAGE = PageSize.TOKENS;

  private TokenWeights() {}

  static void weigh(
      float[] probabilities,
      int rows,
      float[] back,
      float[] scales,
      int lanes,
      float[] totals,
      float[] weights) {
    int row = 0;
    for (; row + 4 <= rows; row += 4) {
      four(probabilities, row, back, scales, lanes, totals, weights);
    }
    for (; row < rows; row++) {
      one(probabilities, row, back, scales, lanes, totals, weights);
    }
  }

  private static void four(
      float[] probabilities,
      int row,
      float[] back,
      float[] scales,
      int lanes,
      float[] totals,
      float[] weights) {
    float total0 = 0;
    float total1 = 0;
    float total2 = 0;
    float total3 = 0;
    for (int token = 0; token < PAGE; token++) {
      int from = row * PAGE + token;
      int to = token * lanes + row;
      float probability0 = probabilities[from] * back[row];
      float probability1 = probabilities[from + PAGE] * back[row + 1];
      float probability2 = probabilities[from + 2 * PAGE] * back[row + 2];
      float probability3 = probabilities[from + 3 * PAGE] * back[row + 3];
      total0 += probability0;
      total1 += probability1;
      total2 += probability2;
      total3 += probability3;
      weights[to] = probability0 * scales[token];
      weights[to + 1] = probability1 * scales[token];
      weights[to + 2] = probability2 * scales[token];
      weights[to + 3] = probability3 * scales[token];
    }
    totals[row] += total0;
    totals[row + 1] += total1;
    totals[row + 2] += total2;
    totals[row + 3] += total3;
  }

  private static void one(
      float[] probabilities,
      int row,
      float[] back,
      float[] scales,
      int lanes,
      float[] totals,
      float[] weights) {
    float total = 0;
    for (int token = 0; token < PAGE; token++) {
      float probability = probabilities[row * PAGE + token] * back[row];
      total += probability;
      weights[token * lanes + row] = probability * scales[token];
    }
    totals[row] += total;
  }
}
