package dev.kvasir.cuda.formats.commvq;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.kvasir.cuda.memory.Fp16Page;
import java.lang.foreign.MemorySegment;

/**
 * The layout of a page of codebook indices: 64 tokens of one KV head. Each stage of keys and of
 * values has two 6-bit row indices, and each token has a scale. Keys are stored by token, since a
 * lane sums all row sets of a token. Values are stored by set, since a lane handles its own sets.
 *
 * <pre>
 * key words     (words, 64 tokens)   bit 31                                  0
 *                                    | - - |  4  |  3  |  2  |  1  |  0  |     five indices of a word,
 *                                    | scale, 16 bits  | - - |  1  |  0  |     and the last word
 * value words   (4 times 16 tokens, 3, sets): 16 indices in 96 bits
 * value scales  (64) halves
 * position      u32, of the first token
 *
 * bytes = 256 * words + 96 * stages + 132, up to a multiple of 64
 * </pre>
 *
 * Values that a network has encoded have bits instead:
 *
 * <pre>
 * value words   (32 pairs of tokens, bits / 16): 16 bits of the first token | 16 bits of the second << 16
 * </pre>
 *
 * @param stages number of stages of keys, and of values that are searched for
 * @param valueBytes bytes of the codes of values
 */
record CodebookPage(int stages, int valueBytes) {
  static final int TOKENS = Fp16Page.TOKENS;
  static final int INDEX_BITS = 6;
  private static final int WORD_INDICES = 5;
  private static final int SCALE_BITS = 16;
  private static final int GROUP = 16;
  private static final int GROUP_WORDS = GROUP * INDEX_BITS / Integer.SIZE;
  private static final int ALIGNMENT = 64;
  private static final int MASK = (1 << INDEX_BITS) - 1;

  /** A page with as many stages of values as of keys. */
  CodebookPage(int stages) {
    this(stages, TOKENS / GROUP * GROUP_WORDS * 2 * stages * Integer.BYTES);
  }

  /**
   * Returns a page with values of bits.
   *
   * @param bits bits of a token, of one KV head
   */
  static CodebookPage ofBits(int stages, int bits) {
    return new CodebookPage(stages, TOKENS * bits / Byte.SIZE);
  }

  /** Returns the number of row sets: two per stage. */
  int sets() {
    return 2 * stages;
  }

  /** Returns the words per token of keys; the last one has the scale in its upper half. */
  int keyWords() {
    int last = sets() % WORD_INDICES;
    boolean fitsScale = last > 0 && last * INDEX_BITS <= Integer.SIZE - SCALE_BITS;
    return Math.ceilDiv(sets(), WORD_INDICES) + (fitsScale ? 0 : 1);
  }

  private int valuesAt() {
    return keyWords() * TOKENS * Integer.BYTES;
  }

  private int valueScalesAt() {
    return valuesAt() + valueBytes;
  }

  int positionAt() {
    return valueScalesAt() + TOKENS * Short.BYTES;
  }

  int bytes() {
    return Math.ceilDiv(positionAt() + Integer.BYTES, ALIGNMENT) * ALIGNMENT;
  }

  /** Returns the first of the six bits of a key index, counted from the start of the page. */
  int keyBit(int token, int set) {
    return keyWordAt(token, set / WORD_INDICES) * Byte.SIZE + INDEX_BITS * (set % WORD_INDICES);
  }

  private static int keyWordAt(int token, int word) {
    return Integer.BYTES * (TOKENS * word + token);
  }

  int keyScaleAt(int token) {
    return keyWordAt(token, keyWords() - 1) + Short.BYTES;
  }

  /** Returns one of the six bits of a value index, which may span two words. */
  int valueBit(int token, int set, int bit) {
    int within = INDEX_BITS * (token % GROUP) + bit;
    int word = token / GROUP * GROUP_WORDS + within / Integer.SIZE;
    int at = valuesAt() + Integer.BYTES * (word * sets() + set);
    return at * Byte.SIZE + within % Integer.SIZE;
  }

  /** Returns the place of a bit of a token, if values have bits. */
  int setBit(int token, int bit) {
    int words = valueBytes * Byte.SIZE / TOKENS / Short.SIZE;
    int at = valuesAt() + Integer.BYTES * (token / 2 * words + bit / Short.SIZE);
    return at * Byte.SIZE + token % 2 * Short.SIZE + bit % Short.SIZE;
  }

  /** Returns a bit of a token, if values have bits. */
  boolean isSet(MemorySegment page, int token, int bit) {
    int place = setBit(token, bit);
    int word = page.get(JAVA_INT_UNALIGNED, place / Integer.SIZE * Integer.BYTES);
    return (word >>> place % Integer.SIZE & 1) == 1;
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

  /** Sets an index whose bits are zero. */
  void putKeyIndex(MemorySegment page, int token, int set, int index) {
    orBits(page, keyBit(token, set), index);
  }

  /** Sets an index whose bits are zero. */
  void putValueIndex(MemorySegment page, int token, int set, int index) {
    for (int i = 0; i < INDEX_BITS; i++) {
      orBits(page, valueBit(token, set, i), index >>> i & 1);
    }
  }

  /** Sets a bit. */
  void putBit(MemorySegment page, int token, int bit) {
    orBits(page, setBit(token, bit), 1);
  }

  private static void orBits(MemorySegment page, int bit, int bits) {
    int at = bit / Integer.SIZE * Integer.BYTES;
    page.set(JAVA_INT_UNALIGNED, at, page.get(JAVA_INT_UNALIGNED, at) | bits << bit % Integer.SIZE);
  }

  /**
   * @param keyScale fp16 bits
   * @param valueScale fp16 bits
   */
  void putScales(MemorySegment page, int token, short keyScale, short valueScale) {
    page.set(JAVA_SHORT_UNALIGNED, keyScaleAt(token), keyScale);
    page.set(JAVA_SHORT_UNALIGNED, valueScaleAt(token), valueScale);
  }

  void putPosition(MemorySegment page, int position) {
    page.set(JAVA_INT_UNALIGNED, positionAt(), position);
  }
}
