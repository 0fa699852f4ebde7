package dev.kvasir.cuda.formats.commvq;

import dev.kvasir.cuda.memory.Fp16Page;

/**
 * How thread blocks search the codes of vectors, as in search.cuh. Results do not depend on it.
 *
 * @param tokens tokens of a block
 * @param rows rows of a stage that are in shared memory at a time
 */
record SearchShape(int tokens, int rows) {
  private static final int STAGE_ROWS = 128;
  private static final int MIN_ROWS = 16;
  private static final int MAX_TOKENS = 16;
  private static final int MIN_TOKENS = 4;
  private static final int SQUARES = 64 * 64;
  private static final int BLOCK_TOKENS = Fp16Page.BLOCK_PAGES * Fp16Page.TOKENS;

  /**
   * The vectors of a block of 128 tokens.
   *
   * @param count vectors of a token in all layers
   * @param length channels of a vector
   */
  record Vectors(int count, int length, int stages, int beam) {}

  /**
   * Returns the shape with as many tokens per block as fit, so that rows are read less often, but
   * with at least one thread block for each multiprocessor.
   *
   * @param sharedBytes shared memory of a block
   */
  static SearchShape of(Vectors vectors, int sharedBytes, int multiprocessors) {
    int tokens = MAX_TOKENS;
    while (tokens > MIN_TOKENS
        && (long) vectors.count() * (BLOCK_TOKENS / tokens) < multiprocessors) {
      tokens /= 2;
    }
    SearchShape shape = new SearchShape(tokens, STAGE_ROWS);
    while (shape.sharedBytes(vectors) > sharedBytes) {
      if (shape.rows > MIN_ROWS) {
        shape = new SearchShape(shape.tokens, shape.rows / 2);
      } else if (shape.tokens > 1) {
        shape = new SearchShape(shape.tokens / 2, STAGE_ROWS);
      } else {
        break;
      }
    }
    return shape;
  }

  int blocks() {
    return BLOCK_TOKENS / tokens;
  }

  /** Returns the size of SearchMemory in search.cuh. */
  int sharedBytes(Vectors vectors) {
    int beams = tokens * vectors.beam();
    int stride = vectors.length() + 4;
    int floats = (2 * beams + rows) * stride + SQUARES + beams * (STAGE_ROWS + 2);
    return floats * Float.BYTES + 2 * beams * vectors.stages() * Short.BYTES;
  }
}
