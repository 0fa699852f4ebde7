package dev.kvasir.cuda.formats.commvq;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.kernel.Int8Codebooks;
import dev.kvasir.kernel.RopeTable;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The layout of the codebooks of one layer as device attention reads them.
 *
 * <pre>
 * keys     of one KV head:
 *          (stages, 64) times 128 signed bytes, first rows only: second rows are first rows rotated
 *          by a quarter turn
 *          (4 quads) times (units, x and y of the mean) as halves, headDim / 8 pairs each
 *          f32 factor
 * values   {@link ValueTableLayout}, which begin with u32 KV heads that share codes, u32 sets, u32
 *          sets of a warp, u32 warps
 * </pre>
 *
 * A row of keys has 16 bytes for each quad of a warp: x and y of eight pairs. With 128 channels the
 * next eight pairs of each quad follow. With 64 channels the same bytes are repeated, so that two
 * tokens that a warp reads at once use different halves. Units are divided by a power of two, and
 * scales are multiplied by it, so that both fit the range of halves. Bins are (sets / 8, 64 rows, 8
 * sets). A head has bins for all sets that its codes name, and its own channels of the rows.
 *
 * @param stages stages of keys; values have as many for each head that shares codes
 * @param valueHeads KV heads whose values share codes
 */
record CodebookTableLayout(int headDim, int stages, int valueHeads) {
  /** Maximum value sets of a group of heads, a limit of kernels that decode. */
  static final int MAX_SETS = 384;

  private static final int ROWS = Int8Codebooks.CODEWORDS;
  private static final int QUADS = 4;
  private static final int HEADS = 4; // of a thread block
  private static final int ROW_BYTES = 128;
  private static final int PAIRS_OF_CHUNK = 8;
  private static final int ALIGNMENT = 128;
  private static final int BIN_SETS = 8;

  /** More sets leave room for fewer than eight warps. */
  private static final int MAX_WARP_SETS = 24;

  private static final int MAX_SHARING_WARPS = 8;

  private int quadPairs() {
    return headDim / 2 / QUADS;
  }

  /** Returns the bytes of a key table that all tokens share: rows, units and means. */
  int sharedKeyBytes() {
    return factorAt();
  }

  private int rowBytes() {
    return stages * ROWS * ROW_BYTES;
  }

  private int factorAt() {
    return rowBytes() + QUADS * 3 * quadPairs() * Short.BYTES;
  }

  int keyBytes() {
    return Math.ceilDiv(factorAt() + Float.BYTES, ALIGNMENT) * ALIGNMENT;
  }

  /** Returns the value sets of heads that share codes. */
  int sets() {
    return 2 * stages * valueHeads;
  }

  private static int padded(int sets) {
    return Math.ceilDiv(sets, BIN_SETS) * BIN_SETS;
  }

  int bins() {
    return padded(sets()) * ROWS;
  }

  /** Returns the number of warps that share the sets of a page, a power of two. */
  int sharingWarps() {
    int warps = 1;
    while (warps < MAX_SHARING_WARPS && padded(Math.ceilDiv(sets(), warps)) > MAX_WARP_SETS) {
      warps *= 2;
    }
    return warps;
  }

  /** Returns the sets of a warp; if there are more, pages are read several times. */
  int warpSets() {
    return Math.min(MAX_WARP_SETS, padded(Math.ceilDiv(sets(), sharingWarps())));
  }

  /** Returns the layout of value tables. */
  ValueTableLayout values() {
    return new ValueTableLayout(
        headDim, bins(), List.of(valueHeads, sets(), warpSets(), sharingWarps()));
  }

  /** Returns the bytes of one head's key rows for dense products. */
  int denseKeyBytes() {
    return padded(2 * stages) * ROWS / Fp16Page.TILE_TOKENS * values().tileBytes();
  }

  /** Returns the bytes of a warp's bins, which sum weights, and of its weights of a page. */
  int warpBytes() {
    return (warpSets() * ROWS * Float.BYTES + Fp16Page.TOKENS * Short.BYTES) * HEADS;
  }

  /**
   * Returns the bin that sums the weights of a row; it is also the row's index in the value table.
   */
  static int bin(int set, int row) {
    return (set / BIN_SETS * ROWS + row) * BIN_SETS + set % BIN_SETS;
  }

  /** Writes the key rows of a head to zeroed memory. */
  void putKeys(Int8Codebooks codebooks, MemorySegment to) {
    int pairs = codebooks.pairs();
    for (int stage = 0; stage < stages; stage++) {
      for (int row = 0; row < ROWS; row++) {
        int from = 2 * (2 * stage * ROWS + row) * pairs; // of the stage's first rows
        for (int at = 0; at < ROW_BYTES; at += 2) {
          int pair = pairAt(at);
          long place = (long) (stage * ROWS + row) * ROW_BYTES + at;
          to.set(JAVA_BYTE, place, signed(codebooks.codewords()[from + 2 * pair]));
          to.set(JAVA_BYTE, place + 1, signed(codebooks.codewords()[from + 2 * pair + 1]));
        }
      }
    }
    float factor = factor(codebooks.units());
    for (int pair = 0; pair < headDim / 2; pair++) {
      int at =
          rowBytes() + Short.BYTES * (pair / quadPairs() * 3 * quadPairs() + pair % quadPairs());
      putHalf(to, at, codebooks.units()[pair] / factor);
      putHalf(to, at + Short.BYTES * quadPairs(), codebooks.mean()[pair]);
      putHalf(to, at + 2 * Short.BYTES * quadPairs(), codebooks.mean()[pairs + pair]);
    }
    to.set(JAVA_FLOAT_UNALIGNED, factorAt(), factor);
  }

  private static byte signed(byte fixed) {
    return (byte) (fixed - Int8Codebooks.ZERO_POINT);
  }

  /** Returns the pair stored at a byte of a row. */
  private int pairAt(int at) {
    int half = at / 64;
    int quad = at % 64 / 16;
    int chunk = quadPairs() > PAIRS_OF_CHUNK ? PAIRS_OF_CHUNK * half : 0;
    return quad * quadPairs() + chunk + at % 16 / 2;
  }

  /** Returns the power of two that is greater than the largest unit and at most twice as large. */
  private static float factor(float[] units) {
    float largest = 0;
    for (float unit : units) {
      largest = Math.max(largest, unit);
    }
    return largest == 0 ? 1 : Math.scalb(1f, Math.getExponent(largest) + 1);
  }

  private static void putHalf(MemorySegment to, int at, float value) {
    to.set(JAVA_SHORT_UNALIGNED, at, Float.floatToFloat16(value));
  }

  /**
   * Writes the key rows of a head to zeroed memory, as integers in the layout of value rows.
   * Channels are x of all pairs, then y.
   */
  void putDenseKeys(Int8Codebooks codebooks, MemorySegment to) {
    int pairs = codebooks.pairs();
    ValueTableLayout places = values();
    for (int set = 0; set < 2 * stages; set++) {
      for (int row = 0; row < ROWS; row++) {
        for (int pair = 0; pair < headDim / 2; pair++) {
          int from = 2 * ((set * ROWS + row) * pairs + pair);
          int bin = bin(set, row);
          putHalf(to, places.at(bin, pair), signed(codebooks.codewords()[from]));
          putHalf(to, places.at(bin, headDim / 2 + pair), signed(codebooks.codewords()[from + 1]));
        }
      }
    }
  }

  private int ropeStride() {
    return (headDim / 32 | 1) * 64;
  }

  /** Returns the bytes written by {@link #putRope}. */
  int ropeBytes() {
    return Fp16Page.TOKENS * ropeStride();
  }

  /**
   * Writes cosines and sines of token indices in a page, as halves in lane order: (64 tokens,
   * headDim / 32, 4 quads) times four cosines and four sines.
   */
  void putRope(RopeTable table, MemorySegment to) {
    for (int token = 0; token < Fp16Page.TOKENS; token++) {
      for (int pair = 0; pair < headDim / 2; pair++) {
        int own = pair % quadPairs();
        int at =
            token * ropeStride() + own / 4 * 64 + pair / quadPairs() * 16 + Short.BYTES * (own % 4);
        putHalf(to, at, table.cosines()[token * table.pairs() + pair]);
        putHalf(to, at + 4 * Short.BYTES, table.sines()[token * table.pairs() + pair]);
      }
    }
  }
}
