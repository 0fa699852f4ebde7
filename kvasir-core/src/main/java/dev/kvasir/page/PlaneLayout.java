package dev.kvasir.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Where the bits of a grid of codes lie: {@code entries} codes of {@code bits} bits for each of
 * {@code lanes} lanes. Sums run over entries, lanes are independent of each other: for keys a lane
 * is a token and an entry a channel, for values a lane is a channel and an entry a token.
 *
 * <p>A code is cut into bit planes, and four entries make a quad: with Q = entries / 4, quad c is
 * the entries {c, c + Q, c + 2Q, c + 3Q}. One plane's bits of a quad are a nibble, bit k for entry
 * c + kQ, and a nibble looks up one of the sixteen subset sums of the quad's four weights. So every
 * width runs through the same look-ups, and nothing is ever unpacked.
 *
 * <pre>
 * tile of 32 lanes (the last one of 16 where lanes is an odd multiple of 16)
 *   pair k of planes 2k, 2k+1, for k = 0 .. bits/2 - 1
 *     quad 0 .. Q-1
 *       one byte a lane: | plane 2k+1: 4 bits | plane 2k: 4 bits |
 *   where bits is odd, the highest plane, two quads to a byte:
 *     quads 0 1, 2 3, ..
 *       one byte a lane: | quad 2j+1: 4 bits | quad 2j: 4 bits |
 *
 * bytes = lanes * (Q * (bits / 2) + (bits odd ? ceil(Q / 2) : 0))
 * </pre>
 *
 * <p>Within sixteen lanes, byte b belongs to lane {@code (b & 3) * 4 + (b >> 2)}: sums are kept in
 * the 16-bit halves of 32-bit lanes, and in this order they turn into floats of consecutive lanes
 * by masks and shifts alone. The rows of a pair of planes lie one after another, so that a loop
 * over them has a fixed step.
 */
public record PlaneLayout(int lanes, int entries, int bits) {
  /** Lanes of one table look-up. */
  public static final int VECTOR = 16;

  /** Lanes that lie together, so that a table in registers serves two look-ups. */
  public static final int TILE = 32;

  private static final int[] BYTE_OF_LANE =
      IntStream.range(0, TILE).map(PlaneLayout::byteOfLane).toArray();

  /**
   * What a byte of a pair of planes says of its quad: the two bits of each entry, the first entry
   * in the lowest byte. A nibble alone is the lower plane.
   */
  private static final int[] CODES_OF_PAIR =
      IntStream.range(0, 256).map(PlaneLayout::codesOfPair).toArray();

  public PlaneLayout {
    if (lanes < VECTOR || lanes % VECTOR != 0) {
      throw new IllegalArgumentException(
          "lanes is %d; expected a multiple of %d".formatted(lanes, VECTOR));
    }
    if (entries < 4 || entries % 4 != 0) {
      throw new IllegalArgumentException(
          "entries is %d; expected a multiple of 4".formatted(entries));
    }
    if (bits < 1 || bits > 8) {
      throw new IllegalArgumentException("bits is %d; expected 1 to 8".formatted(bits));
    }
  }

  private static int codesOfPair(int pair) {
    int codes = 0;
    for (int entry = 0; entry < 4; entry++) {
      int low = pair >> entry & 1;
      int high = pair >> 4 + entry & 1;
      codes |= (low | high << 1) << 8 * entry;
    }
    return codes;
  }

  /** Room for so many entries and lanes, with what fills them up to quads and vectors. */
  public static PlaneLayout padded(int entries, int lanes, int bits) {
    return new PlaneLayout(
        Math.ceilDiv(lanes, VECTOR) * VECTOR, Math.ceilDiv(entries, 4) * 4, bits);
  }

  public int quads() {
    return entries / 4;
  }

  /** Whole pairs of planes. */
  public int pairs() {
    return bits / 2;
  }

  /** Whether the highest plane has no partner. */
  public boolean hasSinglePlane() {
    return bits % 2 == 1;
  }

  /** Bytes that a lane takes. */
  public int bytesPerLane() {
    return quads() * pairs() + (hasSinglePlane() ? Math.ceilDiv(quads(), 2) : 0);
  }

  public int bytes() {
    return lanes * bytesPerLane();
  }

  public int tiles() {
    return Math.ceilDiv(lanes, TILE);
  }

  /** Lanes of a tile: 32, or 16 in the last one. */
  public int tileLanes(int tile) {
    return Math.min(TILE, lanes - tile * TILE);
  }

  /** Where a tile begins. */
  public int tileOffset(int tile) {
    return tile * TILE * bytesPerLane();
  }

  /** Where the bytes of a pair of planes of a quad begin within a tile. */
  public int pairOffset(int tile, int quad, int pair) {
    return tileOffset(tile) + (pair * quads() + quad) * tileLanes(tile);
  }

  /** Where the bytes of the highest plane of quads 2j and 2j + 1 begin, where bits is odd. */
  public int singleOffset(int tile, int quadPair) {
    return tileOffset(tile) + (quads() * pairs() + quadPair) * tileLanes(tile);
  }

  /** Where a lane's byte lies among the bytes of its tile. */
  public static int byteOfLane(int laneInTile) {
    int inVector = laneInTile % VECTOR;
    return laneInTile - inVector + (inVector % 4) * 4 + inVector / 4;
  }

  /**
   * Packs codes.
   *
   * @param codes (entries, lanes), each below {@code 2^bits}
   */
  public void pack(CodeRoom room, byte[] codes, MemorySegment target, long offset) {
    byte[] packed = room.packed(bytes());
    Arrays.fill(packed, 0, bytes(), (byte) 0);
    for (int tile = 0; tile < tiles(); tile++) {
      for (int quad = 0; quad < quads(); quad++) {
        for (int pair = 0; pair < pairs(); pair++) {
          int row = pairOffset(tile, quad, pair);
          packNibbles(codes, tile, quad, 2 * pair, packed, row, 0);
          packNibbles(codes, tile, quad, 2 * pair + 1, packed, row, 4);
        }
        if (hasSinglePlane()) {
          int row = singleOffset(tile, quad / 2);
          packNibbles(codes, tile, quad, bits - 1, packed, row, 4 * (quad % 2));
        }
      }
    }
    MemorySegment.copy(packed, 0, target, ValueLayout.JAVA_BYTE, offset, bytes());
  }

  /** Adds one plane of a quad of a tile's lanes to a row of bytes. */
  private void packNibbles(
      byte[] codes, int tile, int quad, int plane, byte[] packed, int row, int shift) {
    int count = tileLanes(tile);
    int step = quads() * lanes;
    for (int lane = 0; lane < count; lane++) {
      int at = quad * lanes + tile * TILE + lane;
      int nibble =
          codes[at] >> plane & 1
              | (codes[at + step] >> plane & 1) << 1
              | (codes[at + 2 * step] >> plane & 1) << 2
              | (codes[at + 3 * step] >> plane & 1) << 3;
      packed[row + BYTE_OF_LANE[lane]] |= (byte) (nibble << shift);
    }
  }

  /** The inverse of {@link #pack}. */
  public void unpack(CodeRoom room, MemorySegment source, long offset, byte[] codes) {
    byte[] packed = room.packed(bytes());
    MemorySegment.copy(source, ValueLayout.JAVA_BYTE, offset, packed, 0, bytes());
    if (pairs() == 0) {
      Arrays.fill(codes, 0, entries * lanes, (byte) 0);
    }
    for (int tile = 0; tile < tiles(); tile++) {
      for (int quad = 0; quad < quads(); quad++) {
        int at = quad * lanes + tile * TILE;
        for (int pair = 0; pair < pairs(); pair++) {
          int row = pairOffset(tile, quad, pair);
          unpackPair(packed, row, tileLanes(tile), pair, codes, at);
        }
        if (hasSinglePlane()) {
          int row = singleOffset(tile, quad / 2);
          unpackSingle(packed, row, tileLanes(tile), quad % 2, codes, at);
        }
      }
    }
  }

  /** Puts the lowest pair of planes of a quad into codes, or adds a higher one. */
  private void unpackPair(byte[] packed, int row, int count, int pair, byte[] codes, int at) {
    int step = quads() * lanes;
    for (int lane = 0; lane < count; lane++) {
      int four = CODES_OF_PAIR[packed[row + BYTE_OF_LANE[lane]] & 0xFF] << 2 * pair;
      if (pair == 0) {
        codes[at + lane] = (byte) four;
        codes[at + step + lane] = (byte) (four >>> 8);
        codes[at + 2 * step + lane] = (byte) (four >>> 16);
        codes[at + 3 * step + lane] = (byte) (four >>> 24);
      } else {
        add(four, step, codes, at + lane);
      }
    }
  }

  /** Adds the highest plane of a quad to codes, where bits is odd. */
  private void unpackSingle(byte[] packed, int row, int count, int half, byte[] codes, int at) {
    int step = quads() * lanes;
    for (int lane = 0; lane < count; lane++) {
      int nibble = packed[row + BYTE_OF_LANE[lane]] >>> 4 * half & 0xF;
      add(CODES_OF_PAIR[nibble] << bits - 1, step, codes, at + lane);
    }
  }

  private static void add(int four, int step, byte[] codes, int at) {
    codes[at] |= (byte) four;
    codes[at + step] |= (byte) (four >>> 8);
    codes[at + 2 * step] |= (byte) (four >>> 16);
    codes[at + 3 * step] |= (byte) (four >>> 24);
  }
}
