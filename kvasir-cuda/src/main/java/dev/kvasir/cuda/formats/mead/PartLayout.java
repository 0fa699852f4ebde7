package dev.kvasir.cuda.formats.mead;

import dev.kvasir.codec.mead.MeadParameters;

/**
 * The layout of the keys, or values, of one KV head in a block of 128 tokens. Rows are the block's
 * tokens, tier after tier. In a tier, tokens of the four remainders modulo 4 take turns, so that
 * lanes of a warp read cosines from different memory banks. A tile is 16 rows of one tier.
 *
 * <pre>
 * keys    u16 (8 r, 8 tiles, 2) of rows r and r + 8 of a tile:
 *           bits 0-6 token, 7-9 scale of the key, 10-12 scale of the value
 *         u32 position of the first token, zeros up to 288 bytes
 *         what selects rows of tables: u8 (128 rows) of keys, then of values; or u16 (128 rows); or
 *           in a layer that is looked up u32 (128 tokens) token ids
 * values  u4 (headDim) mean errors by slot
 *
 * both, for each step, two of which are a chunk, for each tier: codes in planes of the upper four
 *         bits, of two and of one, as far as the width has them; eight bits are two planes of four
 *
 * plane of b bits   (tiles, 32 lanes) of 8 b bits: four fields of b bits for the even column, then
 *                   four for the odd one; with four bits these are the halves of a word
 *
 *         lane = 4 row + quad                          field
 * keys    row = token row % 8, quad = pair % 8 / 2     token row / 8 + 2 * (second channel of the pair)
 * values  row = slot % 8, quad = token row % 8 / 2     slot % 16 / 8 + 2 * (token row / 8)
 * </pre>
 *
 * A code fills the upper bits of its step's width.
 *
 * @param stepsAt offset of the codes of a step // (tiers, steps)
 * @param chunksAt offset of each chunk, the first with what precedes it, and the end
 */
record PartLayout(StepWidths order, int[][] stepsAt, int[] chunksAt) {
  /** Tokens of a tile. */
  static final int TILE = 16;

  static final int CHUNK_STEPS = 2;
  static final int KEY_HEADER_BYTES = 288;
  static final int POSITION_AT = 256;

  /** Bytes of a tile's codes per bit of width. */
  private static final int BIT_BYTES = TILE * StepWidths.CHANNELS / Byte.SIZE;

  /**
   * @param tableBytes bytes of what selects rows of tables
   */
  static PartLayout ofKeys(StepWidths order, int tableBytes) {
    return of(order, KEY_HEADER_BYTES + tableBytes);
  }

  static PartLayout ofValues(StepWidths order) {
    return of(order, order.slots().length / 2);
  }

  private static PartLayout of(StepWidths order, int headerBytes) {
    int chunks = order.steps() / CHUNK_STEPS;
    int[][] stepsAt = new int[MeadParameters.TIERS][order.steps()];
    int[] chunksAt = new int[chunks + 1];
    int at = headerBytes;
    for (int chunk = 0; chunk < chunks; chunk++) {
      chunksAt[chunk] = chunk == 0 ? 0 : at;
      for (int step = CHUNK_STEPS * chunk; step < CHUNK_STEPS * (chunk + 1); step++) {
        for (int tier = 0; tier < MeadParameters.TIERS; tier++) {
          stepsAt[tier][step] = at;
          at += BIT_BYTES * order.widths()[tier][step] * tiles(tier);
        }
      }
    }
    chunksAt[chunks] = at;
    return new PartLayout(order, stepsAt, chunksAt);
  }

  static int tiles(int tier) {
    return MeadParameters.tokens(tier) / TILE;
  }

  int bytes() {
    return chunksAt[chunksAt.length - 1];
  }

  /** Returns the bytes of the largest chunk. */
  int maxChunkBytes() {
    int most = 0;
    for (int chunk = 0; chunk + 1 < chunksAt.length; chunk++) {
      most = Math.max(most, chunksAt[chunk + 1] - chunksAt[chunk]);
    }
    return most;
  }

  /** Returns the bits of all codes. */
  long codeBits() {
    long bits = 0;
    for (int tier = 0; tier < MeadParameters.TIERS; tier++) {
      for (int width : order.widths()[tier]) {
        bits += (long) MeadParameters.tokens(tier) * StepWidths.CHANNELS * width;
      }
    }
    return bits;
  }
}
