package dev.kvasir.cuda.memory;

import java.util.Arrays;

/**
 * The layout of an fp16 page: 64 tokens of one KV head, in the order in which the lanes of a warp
 * hold matrix operands. A lane has 16 bytes of each chunk of 32 lanes.
 *
 * <pre>
 * page   4 tiles of 16 tokens
 * tile   headDim / 16 chunks of keys, headDim / 16 chunks of values
 * chunk  32 lanes of 4 words of 2 halves; lane = 4 * row + quad, row 0-7, quad 0-3
 *
 * key    row = token % 8; word = token / 8 + 2 * (channel % 16 / 8); quad = channel % 8 / 2
 * value  row = channel % 8; word = upper half of the channels + 2 * (token / 8); quad = token % 8 / 2
 *
 * bytes = 64 tokens * headDim * 2 (keys and values) * 2
 * </pre>
 *
 * Token indices are relative to the tile.
 */
public record Fp16Page(int headDim) {
  /** Tokens per page. */
  public static final int TOKENS = 64;

  /** Pages per block; a block is one page on the host. */
  public static final int BLOCK_PAGES = 2;

  public static final int TILE_TOKENS = 16;
  public static final int TILES = TOKENS / TILE_TOKENS;
  public static final int CHUNK_BYTES = 512;

  public int bytes() {
    return TILES * tileBytes();
  }

  public int tileBytes() {
    return 2 * sideBytes();
  }

  private int sideBytes() {
    return TILE_TOKENS * headDim * Short.BYTES;
  }

  /** Returns the byte offset of a key element. */
  public int keyOffset(int token, int channel) {
    int row = token % TILE_TOKENS;
    int column = channel % 16;
    return token / TILE_TOKENS * tileBytes()
        + channel / 16 * CHUNK_BYTES
        + laneOffset(row % 8, column % 8 / 2, row / 8 + 2 * (column / 8))
        + Short.BYTES * (channel % 2);
  }

  /** Returns the byte offset of a value element. */
  public int valueOffset(int token, int channel) {
    int column = token % TILE_TOKENS;
    int row = channel % (headDim / 2);
    return token / TILE_TOKENS * tileBytes()
        + sideBytes()
        + row / 8 * CHUNK_BYTES
        + laneOffset(row % 8, column % 8 / 2, channel / (headDim / 2) + 2 * (column / 8))
        + Short.BYTES * (token % 2);
  }

  /**
   * Sets the keys and values from a token on to zero.
   *
   * @param offset of the page
   */
  public void clearFrom(int first, byte[] bytes, int offset) {
    int wholeTile = Math.ceilDiv(first, TILE_TOKENS);
    Arrays.fill(bytes, offset + wholeTile * tileBytes(), offset + bytes(), (byte) 0);
    for (int token = first; token < wholeTile * TILE_TOKENS; token++) {
      for (int channel = 0; channel < headDim; channel++) {
        clearHalf(bytes, offset + keyOffset(token, channel));
        clearHalf(bytes, offset + valueOffset(token, channel));
      }
    }
  }

  private static void clearHalf(byte[] bytes, int at) {
    bytes[at] = 0;
    bytes[at + 1] = 0;
  }

  private static int laneOffset(int row, int quad, int word) {
    return 16 * (4 * row + quad) + Integer.BYTES * word;
  }
}
