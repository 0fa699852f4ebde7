package dev.kvasir.simd;

import static jdk.incubator.vector.VectorOperators.ADD;
import static jdk.incubator.vector.VectorOperators.AND;
import static jdk.incubator.vector.VectorOperators.ASHR;
import static jdk.incubator.vector.VectorOperators.LSHL;
import static jdk.incubator.vector.VectorOperators.LSHR;
import static jdk.incubator.vector.VectorOperators.MUL;

import dev.kvasir.page.WordLayout;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * The loops over words of codes. Masks leave two codes of a quad in the 16-bit halves of a 32-bit
 * lane, once the even ones and once the odd ones; they are multiplied by digits that lie alike, and
 * added up in 16 bits for as long as sums fit. Words have fixed steps: only then does the compiler
 * take the checks of bounds out of the loop.
 */
final class WordSums {
  private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Short> SHORTS = ShortVector.SPECIES_PREFERRED;
  private static final int LANES = INTS.length();
  private static final int TILE = WordLayout.TILE;

  /** What a 16-bit sum gets of a quad for each unit of the largest code: two digits. */
  private static final int MOST_OF_QUAD = 2 * 127;

  private WordSums() {}

  /**
   * Adds the sums of all rows of digits over a tile, times {@code 2^shift}.
   *
   * @param words (count, lanes of a tile), from {@code from} on
   * @param fields of a byte, each a code
   * @param width bits from a field to the next
   * @param place of the first field's lowest bit
   * @param most the largest code
   * @param even digits of the first and third entries // (quads, rows)
   * @param odd those of the second and fourth
   * @param digitsAt the first word's first quad
   * @param totals (rows, lanes of a tile)
   */
  static void add(
      int[] words,
      int from,
      int count,
      int fields,
      int width,
      int place,
      int most,
      int[] even,
      int[] odd,
      int digitsAt,
      int rows,
      int shift,
      int[] totals) {
    int together = Short.MAX_VALUE / (MOST_OF_QUAD * most * fields);
    int mask = most | most << 16;
    int step = fields * rows;
    for (int word = 0; word < count; word += together) {
      int some = Math.min(together, count - word);
      int digits = digitsAt + word * step;
      for (int lane = 0; lane < TILE; lane += LANES) {
        int at = from + word * TILE + lane;
        int row = 0;
        for (; row <= rows - 4; row += 4) {
          int to = row * TILE + lane;
          addFour(
              words,
              at,
              some,
              fields,
              width,
              place,
              mask,
              even,
              odd,
              digits + row,
              rows,
              shift,
              totals,
              to);
        }
        for (; row < rows; row++) {
          int to = row * TILE + lane;
          addOne(
              words,
              at,
              some,
              fields,
              width,
              place,
              mask,
              even,
              odd,
              digits + row,
              rows,
              shift,
              totals,
              to);
        }
      }
    }
  }

  private static void addFour(
      int[] words,
      int at,
      int count,
      int fields,
      int width,
      int place,
      int mask,
      int[] even,
      int[] odd,
      int digits,
      int rows,
      int shift,
      int[] totals,
      int to) {
    IntVector masks = IntVector.broadcast(INTS, mask);
    ShortVector sum0 = ShortVector.zero(SHORTS);
    ShortVector sum1 = ShortVector.zero(SHORTS);
    ShortVector sum2 = ShortVector.zero(SHORTS);
    ShortVector sum3 = ShortVector.zero(SHORTS);
    int d = digits;
    for (int word = 0; word < count; word++) {
      IntVector all = IntVector.fromArray(INTS, words, at + word * TILE).lanewise(LSHR, place);
      for (int k = 0; k < fields; k++) {
        ShortVector x = all.lanewise(AND, masks).reinterpretAsShorts();
        ShortVector y = all.lanewise(LSHR, 8).lanewise(AND, masks).reinterpretAsShorts();
        all = all.lanewise(LSHR, width);
        ShortVector x0 = IntVector.broadcast(INTS, even[d]).reinterpretAsShorts();
        ShortVector y0 = IntVector.broadcast(INTS, odd[d]).reinterpretAsShorts();
        sum0 = sum0.lanewise(ADD, x.lanewise(MUL, x0)).lanewise(ADD, y.lanewise(MUL, y0));
        ShortVector x1 = IntVector.broadcast(INTS, even[d + 1]).reinterpretAsShorts();
        ShortVector y1 = IntVector.broadcast(INTS, odd[d + 1]).reinterpretAsShorts();
        sum1 = sum1.lanewise(ADD, x.lanewise(MUL, x1)).lanewise(ADD, y.lanewise(MUL, y1));
        ShortVector x2 = IntVector.broadcast(INTS, even[d + 2]).reinterpretAsShorts();
        ShortVector y2 = IntVector.broadcast(INTS, odd[d + 2]).reinterpretAsShorts();
        sum2 = sum2.lanewise(ADD, x.lanewise(MUL, x2)).lanewise(ADD, y.lanewise(MUL, y2));
        ShortVector x3 = IntVector.broadcast(INTS, even[d + 3]).reinterpretAsShorts();
        ShortVector y3 = IntVector.broadcast(INTS, odd[d + 3]).reinterpretAsShorts();
        sum3 = sum3.lanewise(ADD, x.lanewise(MUL, x3)).lanewise(ADD, y.lanewise(MUL, y3));
        d += rows;
      }
    }
    IntVector both0 = sum0.reinterpretAsInts();
    both0
        .lanewise(LSHL, 16)
        .lanewise(ASHR, 16)
        .lanewise(ADD, both0.lanewise(ASHR, 16))
        .lanewise(LSHL, shift)
        .lanewise(ADD, IntVector.fromArray(INTS, totals, to))
        .intoArray(totals, to);
    IntVector both1 = sum1.reinterpretAsInts();
    both1
        .lanewise(LSHL, 16)
        .lanewise(ASHR, 16)
        .lanewise(ADD, both1.lanewise(ASHR, 16))
        .lanewise(LSHL, shift)
        .lanewise(ADD, IntVector.fromArray(INTS, totals, to + TILE))
        .intoArray(totals, to + TILE);
    IntVector both2 = sum2.reinterpretAsInts();
    both2
        .lanewise(LSHL, 16)
        .lanewise(ASHR, 16)
        .lanewise(ADD, both2.lanewise(ASHR, 16))
        .lanewise(LSHL, shift)
        .lanewise(ADD, IntVector.fromArray(INTS, totals, to + 2 * TILE))
        .intoArray(totals, to + 2 * TILE);
    IntVector both3 = sum3.reinterpretAsInts();
    both3
        .lanewise(LSHL, 16)
        .lanewise(ASHR, 16)
        .lanewise(ADD, both3.lanewise(ASHR, 16))
        .lanewise(LSHL, shift)
        .lanewise(ADD, IntVector.fromArray(INTS, totals, to + 3 * TILE))
        .intoArray(totals, to + 3 * TILE);
  }

  private static void addOne(
      int[] words,
      int at,
      int count,
      int fields,
      int width,
      int place,
      int mask,
      int[] even,
      int[] odd,
      int digits,
      int rows,
      int shift,
      int[] totals,
      int to) {
    IntVector masks = IntVector.broadcast(INTS, mask);
    ShortVector sum0 = ShortVector.zero(SHORTS);
    int d = digits;
    for (int word = 0; word < count; word++) {
      IntVector all = IntVector.fromArray(INTS, words, at + word * TILE).lanewise(LSHR, place);
      for (int k = 0; k < fields; k++) {
        ShortVector x = all.lanewise(AND, masks).reinterpretAsShorts();
        ShortVector y = all.lanewise(LSHR, 8).lanewise(AND, masks).reinterpretAsShorts();
        all = all.lanewise(LSHR, width);
        ShortVector x0 = IntVector.broadcast(INTS, even[d]).reinterpretAsShorts();
        ShortVector y0 = IntVector.broadcast(INTS, odd[d]).reinterpretAsShorts();
        sum0 = sum0.lanewise(ADD, x.lanewise(MUL, x0)).lanewise(ADD, y.lanewise(MUL, y0));
        d += rows;
      }
    }
    IntVector both0 = sum0.reinterpretAsInts();
    both0
        .lanewise(LSHL, 16)
        .lanewise(ASHR, 16)
        .lanewise(ADD, both0.lanewise(ASHR, 16))
        .lanewise(LSHL, shift)
        .lanewise(ADD, IntVector.fromArray(INTS, totals, to))
        .intoArray(totals, to);
  }
}
