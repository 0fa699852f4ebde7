package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;

/**
 * 64 tokens of one KV head as indices of codebook rows, two of six bits for each stage of keys and
 * of values, with a scale for each token. Keys lie by token, as a lane adds one up from all sets of
 * rows; values by set, as a lane has sets of its own.
 *
 * <pre>
 * key words     (words, 64 tokens)   bit 31                                  0
 *                                    | - - |  4  |  3  |  2  |  1  |  0  |     five indices of a word,
 *                                    | scale, 16 bits  | - - |  1  |  0  |     and the last one
 * value words   (4 times 16 tokens, 3, sets): 16 indices in 96 bits
 * value scales  (64) halves
 * position      u32, of the first token
 *
 * bytes = 256 * words + 96 * stages + 132, up to a multiple of 64
 * </pre>
 *
 * @param stages of keys, and as many of values
 */
record CodebookPage(int stages) {
  static final int TOKENS = Fp16Page.TOKENS;
  static final int INDEX_BITS = 6;
  private static final int WORD_INDICES = 5;
  private static final int SCALE_BITS = 16;
  private static final int GROUP = 16;
  private static final int GROUP_WORDS = GROUP * INDEX_BITS / Integer.SIZE;
  private static final int ALIGNMENT = 64;
  private static final int MASK = (1 << INDEX_BITS) - 1;

  /** Of rows: first ones and second ones of each stage. */
  int sets() {
    return 2 * stages;
  }

  /** Of a token's keys; the scale is in the upper half of the last one. */
  int keyWords() {
    int last = sets() % WORD_INDICES;
    boolean hasRoom = last > 0 && last * INDEX_BITS <= Integer.SIZE - SCALE_BITS;
    return Math.ceilDiv(sets(), WORD_INDICES) + (hasRoom ? 0 : 1);
  }

  private int valuesAt() {
    return keyWords() * TOKENS * Integer.BYTES;
  }

  private int valueScalesAt() {
    return valuesAt() + TOKENS / GROUP * GROUP_WORDS * sets() * Integer.BYTES;
  }

  int positionAt() {
    return valueScalesAt() + TOKENS * Short.BYTES;
  }

  int bytes() {
    return Math.ceilDiv(positionAt() + Integer.BYTES, ALIGNMENT) * ALIGNMENT;
  }

  /** The first of six bits, counted from the beginning of the page. */
  int keyBit(int token, int set) {
    return keyWordAt(token, set / WORD_INDICES) * Byte.SIZE + INDEX_BITS * (set % WORD_INDICES);
  }

  private static int keyWordAt(int token, int word) {
    return Integer.BYTES * (TOKENS * word + token);
  }

  int keyScaleAt(int token) {
    return keyWordAt(token, keyWords() - 1) + Short.BYTES;
  }

  /** One of six bits: those of an index may lie in two words. */
  int valueBit(int token, int set, int bit) {
    int within = INDEX_BITS * (token % GROUP) + bit;
    int word = token / GROUP * GROUP_WORDS + within / Integer.SIZE;
    int at = valuesAt() + Integer.BYTES * (word * sets() + set);
    return at * Byte.SIZE + within % Integer.SIZE;
  }

  int valueScaleAt(int token) {
    return valueScalesAt() + Short.BYTES * token;
  }

  int keyIndex(MemorySegment page, int token, int set) {
    int bit = keyBit(token, set);
    int word = page.get(JAVA_INT_UNALIGNED, bit / Integer.SIZE * Integer.BYTES);
    return word >>> bit % Integer.SIZE & MASK;
  }

  int valueIndex(MemorySegment page, int token, int set) {
    int index = 0;
    for (int i = 0; i < INDEX_BITS; i++) {
      int bit = valueBit(token, set, i);
      int word = page.get(JAVA_INT_UNALIGNED, bit / Integer.SIZE * Integer.BYTES);
      index |= (word >>> bit % Integer.SIZE & 1) << i;
    }
    return index;
  }

  float keyScale(MemorySegment page, int token) {
    return Float.float16ToFloat(page.get(JAVA_SHORT_UNALIGNED, keyScaleAt(token)));
  }

  float valueScale(MemorySegment page, int token) {
    return Float.float16ToFloat(page.get(JAVA_SHORT_UNALIGNED, valueScaleAt(token)));
  }

  int position(MemorySegment page) {
    return page.get(JAVA_INT_UNALIGNED, positionAt());
  }

  /** Sets an index in a page whose bits are zero there. */
  void putKeyIndex(MemorySegment page, int token, int set, int index) {
    orBits(page, keyBit(token, set), index);
  }

  /** Sets an index in a page whose bits are zero there. */
  void putValueIndex(MemorySegment page, int token, int set, int index) {
    for (int i = 0; i < INDEX_BITS; i++) {
      orBits(page, valueBit(token, set, i), index >>> i & 1);
    }
  }

  private static void orBits(MemorySegment page, int bit, int bits) {
    int at = bit / Integer.SIZE * Integer.BYTES;
    page.set(JAVA_INT_UNALIGNED, at, page.get(JAVA_INT_UNALIGNED, at) | bits << bit % Integer.SIZE);
  }

  /**
   * @param keyScale a half
   * @param valueScale a half
   */
  void putScales(MemorySegment page, int token, short keyScale, short valueScale) {
    page.set(JAVA_SHORT_UNALIGNED, keyScaleAt(token), keyScale);
    page.set(JAVA_SHORT_UNALIGNED, valueScaleAt(token), valueScale);
  }

  void putPosition(MemorySegment page, int position) {
    page.set(JAVA_INT_UNALIGNED, positionAt(), position);
  }
}
