package dev.kvasir.cuda.formats.mead;

import dev.kvasir.codec.mead.MeadParameters;

/**
 * The layout of the keys, or values, of one KV head in a block of 128 tokens. Rows are the block's
 * tokens, tier after tier. In a tier, tokens of the eight remainders modulo 8 take turns, so that
 * their cosines are in different memory banks. A tile is 16 rows of one tier.
 *
 * <pre>
 * keys    u16 (8 r, 8 tiles, 2) of rows r and r + 8 of a tile:
 *           bits 0-6 token, 7-9 scale of the key, 10-12 scale of the value
 *         u32 position of the first token, zeros up to 288 bytes
 *         what selects rows of tables: u8 (128 rows) of keys, then of values; or u16 (128 rows); or
 *           in a layer that is looked up u32 (128 tokens) token ids
 *         steps of group 0, then of group 1; half of the steps of a group are a chunk
 * values  u4 (8 r, 2, steps) mean errors of slots r and r + 8 of a step
 *         steps, each of group 0 and then of group 1; a quarter of the steps is a chunk
 *
 * group 0 the four tiles of the first tier            planes of four bits, of two and of one, as far
 * group 1 those of the other tiers                    as the width has them, the upper bits first
 *         then what the last tile has in addition
 *
 * plane of b bits of a group      u32 (32 lanes, b words)
 * plane of b bits of a tile       (32 lanes) of 8 b bits
 *
 *         lane = 4 row + quad                          register
 * keys    row = token row % 8, quad = pair % 8 / 2     token row / 8 + 2 * (second channel of the pair)
 * values  row = slot % 8, quad = token row % 8 / 2     slot % 16 / 8 + 2 * (token row / 8)
 * </pre>
 *
 * A code fills the upper bits of its step's width. MeadPlanes in meadpages.cuh has the place of a
 * register in its words.
 *
 * @param stepsAt offset of the codes of a step: of both groups, and of what the last tile has in
 *     addition // (groups + 1, steps)
 * @param chunksAt offset of each chunk, the first with what precedes it, and the end
 */
record PartLayout(StepWidths order, int[][] stepsAt, int[] chunksAt) {
  /** Tokens of a tile. */
  static final int TILE = 16;

  /** Groups of four tiles. */
  static final int GROUPS = 2;

  static final int GROUP_TILES = 4;

  /** Chunks of a part. */
  static final int CHUNKS = 4;

  static final int KEY_HEADER_BYTES = 288;
  static final int POSITION_AT = 256;

  /** Bytes of a tile's codes per bit of width. */
  private static final int BIT_BYTES = TILE * StepWidths.CHANNELS / Byte.SIZE;

  /**
   * @param tableBytes bytes of what selects rows of tables
   */
  static PartLayout ofKeys(StepWidths order, int tableBytes) {
    Writer writer = new Writer(order, KEY_HEADER_BYTES + tableBytes);
    for (int group = 0; group < GROUPS; group++) {
      for (int step = 0; step < order.steps(); step++) {
        writer.startChunk(CHUNKS / GROUPS * group + step * CHUNKS / GROUPS / order.steps());
        writer.add(group, step);
      }
    }
    return writer.finish();
  }

  static PartLayout ofValues(StepWidths order) {
    Writer writer = new Writer(order, order.slots().length / 2);
    for (int step = 0; step < order.steps(); step++) {
      writer.startChunk(step * CHUNKS / order.steps());
      for (int group = 0; group < GROUPS; group++) {
        writer.add(group, step);
      }
    }
    return writer.finish();
  }

  /** Places steps one after another. */
  private static final class Writer {
    private final StepWidths order;
    private final int[][] stepsAt;
    private final int[] chunksAt = new int[CHUNKS + 1];
    private int chunk;
    private int at;

    Writer(StepWidths order, int headerBytes) {
      this.order = order;
      this.stepsAt = new int[GROUPS + 1][order.steps()];
      this.at = headerBytes;
    }

    void startChunk(int next) {
      if (next > chunk) {
        chunk = next;
        chunksAt[chunk] = at;
      }
    }

    void add(int group, int step) {
      stepsAt[group][step] = at;
      at += BIT_BYTES * GROUP_TILES * order.widths()[group][step];
      if (group == GROUPS - 1) {
        stepsAt[GROUPS][step] = at;
        at += BIT_BYTES * order.wider(step);
      }
    }

    PartLayout finish() {
      chunksAt[CHUNKS] = at;
      return new PartLayout(order, stepsAt, chunksAt);
    }
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
