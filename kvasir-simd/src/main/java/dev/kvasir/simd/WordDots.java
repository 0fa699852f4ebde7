package dev.kvasir.simd;

import static jdk.incubator.vector.VectorOperators.ADD;
import static jdk.incubator.vector.VectorOperators.ASHR;
import static jdk.incubator.vector.VectorOperators.FMA;
import static jdk.incubator.vector.VectorOperators.I2F;
import static jdk.incubator.vector.VectorOperators.LSHL;

import dev.kvasir.kernel.CodeWeights;
import dev.kvasir.page.WordLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Sums over packed codes. A tile's words are copied first, and the quads that fill no word are made
 * words of one quad each, so that {@link WordSums} meets words alone.
 */
final class WordDots {
  private static final VectorSpecies<Byte> BYTES = ByteVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
  private static final int LANES = INTS.length();
  private static final int TILE = WordLayout.TILE;
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final ThreadLocal<WordDots> OF_THREAD = ThreadLocal.withInitial(WordDots::new);

  private int[] words = {}; // (words, lanes of a tile)
  private int[] even = {}; // (quads, rows of digits)
  private int[] odd = {};
  private final int[] totals = new int[2 * CodeWeights.MOST_HEADS * TILE];

  private WordDots() {}

  static void add(
      WordLayout layout,
      MemorySegment codes,
      long offset,
      int firstTile,
      int endTile,
      CodeWeights weights,
      float[] out,
      int outAt,
      int outStride) {
    weights.requireEntries(layout.entries());
    WordDots room = OF_THREAD.get();
    room.spreadDigits(weights);
    if (room.words.length < layout.quads() * TILE) {
      room.words = new int[layout.quads() * TILE];
    }
    for (int tile = firstTile; tile < endTile; tile++) {
      room.sumTile(layout, codes, offset + (long) tile * layout.tileBytes(), weights.rows());
      int at = outAt + (tile - firstTile) * TILE;
      for (int head = 0; head < weights.heads(); head++) {
        room.finish(weights, head, layout.bits(), out, at + head * outStride);
      }
    }
  }

  /** Four digits of a byte become two of 16 bits, and two. */
  private void spreadDigits(CodeWeights weights) {
    int count = weights.quads() * weights.rows();
    int padded = Math.ceilDiv(count, LANES) * LANES;
    if (even.length < padded) {
      even = new int[padded];
      odd = new int[padded];
    }
    byte[] digits = weights.digits();
    for (int i = 0; i < count; i += LANES) {
      ShortVector pairs = ByteVector.fromArray(BYTES, digits, 4 * i).reinterpretAsShorts();
      pairs.lanewise(LSHL, 8).lanewise(ASHR, 8).reinterpretAsInts().intoArray(even, i);
      pairs.lanewise(ASHR, 8).reinterpretAsInts().intoArray(odd, i);
    }
  }

  private void sumTile(WordLayout layout, MemorySegment codes, long offset, int rows) {
    Arrays.fill(totals, 0, rows * TILE, 0);
    long at = offset;
    for (int width = WordLayout.WIDEST; width > 0; width /= 2) {
      if (layout.hasPart(width)) {
        sumPart(layout, width, codes, at, rows);
        at += (long) TILE * layout.partBytes(width);
      }
    }
  }

  private void sumPart(WordLayout layout, int width, MemorySegment codes, long at, int rows) {
    int count = layout.words(width);
    int shift = layout.shift(width);
    MemorySegment.copy(codes, INT, at, words, 0, count * TILE);
    if (width == 8) { // two products of bytes do not fit 16 bits, but those of nibbles do
      WordSums.add(words, 0, count, 1, 4, 0, 15, even, odd, 0, rows, 0, totals);
      WordSums.add(words, 0, count, 1, 4, 4, 15, even, odd, 0, rows, 4, totals);
      return;
    }
    int most = (1 << width) - 1;
    int fields = 8 / width;
    WordSums.add(words, 0, count, fields, width, 0, most, even, odd, 0, rows, shift, totals);
    int rest = layout.restQuads(width);
    if (rest > 0) {
      spreadRest(codes, at + (long) count * WordLayout.ROW_BYTES, rest, width);
      int digits = count * fields * rows;
      WordSums.add(words, 0, rest, 1, 0, 0, most, even, odd, digits, rows, shift, totals);
    }
  }

  /** Codes that follow each other become words of one quad each. */
  private void spreadRest(MemorySegment codes, long at, int quads, int width) {
    int bytes = Math.ceilDiv(quads * width, 2);
    int mask = (1 << width) - 1;
    for (int lane = 0; lane < TILE; lane++) {
      int left = 0;
      for (int row = 0; row < bytes; row++) {
        int more = codes.get(ValueLayout.JAVA_BYTE, at + (long) row * TILE + lane) & 0xFF;
        left |= more << 8 * row;
      }
      for (int quad = 0; quad < quads; quad++) {
        words[quad * TILE + lane] =
            left & mask
                | (left >>> width & mask) << 8
                | (left >>> 2 * width & mask) << 16
                | (left >>> 3 * width & mask) << 24;
        left >>>= 4 * width;
      }
    }
  }

  private void finish(CodeWeights weights, int head, int bits, float[] out, int outAt) {
    FloatVector unit = FloatVector.broadcast(FLOATS, weights.unit(head));
    FloatVector constant = FloatVector.broadcast(FLOATS, weights.constant(head, bits));
    FloatVector step = FloatVector.broadcast(FLOATS, 1 << CodeWeights.LOW_BITS);
    int low = weights.heads() * TILE;
    for (int lane = 0; lane < TILE; lane += LANES) {
      int from = head * TILE + lane;
      FloatVector sum =
          (FloatVector) IntVector.fromArray(INTS, totals, from).convertShape(I2F, FLOATS, 0);
      if (weights.exact()) {
        FloatVector lower =
            (FloatVector)
                IntVector.fromArray(INTS, totals, low + from).convertShape(I2F, FLOATS, 0);
        sum = sum.lanewise(FMA, step, lower);
      }
      FloatVector.fromArray(FLOATS, out, outAt + lane)
          .lanewise(ADD, sum.lanewise(FMA, unit, constant))
          .intoArray(out, outAt + lane);
    }
  }
}
