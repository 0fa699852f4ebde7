package dev.kvasir.codec.commvq;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.page.SetCodes;
import dev.kvasir.page.StageCodes;

/**
 * The layout of a page. The KV heads come in groups of {@code valueHeads}, whose values share their
 * codes: a code adds up rows that span all heads of the group.
 *
 * <pre>
 * scales of keys, then of values  (2, 128) halves
 * codes                           (groups) x ((valueHeads) x codes of keys, codes of values)
 * </pre>
 *
 * @param keys the codes of one head's keys
 * @param values the codes of one group's values
 */
public record CommvqShape(
    int kvHeads, int keyDim, StageCodes keys, int valueDim, int valueHeads, SetCodes values) {
  private static final int SIDE_SCALE_BYTES = Short.BYTES * Page.TOKENS;

  /**
   * Maximum channels of a default group of values. The rows of a group grow with the square of its
   * channels, and so does the time to search for codes.
   */
  private static final int DEFAULT_VALUE_CHANNELS = 256;

  public CommvqShape {
    if (valueHeads < 1 || kvHeads % valueHeads != 0) {
      throw new IllegalArgumentException(
          "groups of %d KV heads; expected a divisor of %d".formatted(valueHeads, kvHeads));
    }
  }

  /** A shape with values coded by head, which are as wide as keys. */
  public CommvqShape(int kvHeads, int headDim, int stages) {
    this(kvHeads, headDim, stages, headDim, stages);
  }

  /** A shape with values coded by head. */
  public CommvqShape(int kvHeads, int keyDim, int keyStages, int valueDim, int valueStages) {
    this(kvHeads, keyDim, new StageCodes(keyStages), valueDim, 1, new StageCodes(valueStages));
  }

  /** Returns the shape of codebooks that are trained with default settings. */
  static CommvqShape trainedByDefault(int bits, CacheShape shape) {
    int heads = defaultValueHeads(shape.kvHeads(), shape.valueDim());
    return new CommvqShape(
        shape.kvHeads(),
        shape.keyDim(),
        new StageCodes(CommvqProfile.stages(bits, shape.keyDim())),
        shape.valueDim(),
        heads,
        new StageCodes(heads * CommvqProfile.stages(bits, shape.valueDim())));
  }

  /**
   * Returns the KV heads whose values share codes by default: all, or the largest divisor of them
   * whose channels stay within a bound.
   */
  public static int defaultValueHeads(int kvHeads, int valueDim) {
    int heads = kvHeads;
    while (heads > 1 && (kvHeads % heads != 0 || heads * valueDim > DEFAULT_VALUE_CHANNELS)) {
      heads--;
    }
    return heads;
  }

  /** Returns whether values are coded by head, with indices of the usual size on both sides. */
  boolean isByHead() {
    return valueHeads == 1
        && keys.indexBits() == StageCodes.INDEX_BITS
        && values.indexBits() == StageCodes.INDEX_BITS;
  }

  /** Returns whether keys and values have the same width and codes. */
  boolean hasOneWidth() {
    return keyDim == valueDim && keys.equals(values);
  }

  /** Returns the number of groups of KV heads. */
  public int groups() {
    return kvHeads / valueHeads;
  }

  /** Returns the channels of a group's values. */
  public int groupDim() {
    return valueHeads * valueDim;
  }

  long scaleBytes() {
    return 2L * SIDE_SCALE_BYTES;
  }

  private long groupBytes() {
    return (long) valueHeads * keys.bytes() + values.bytes();
  }

  long codeBytes() {
    return groups() * groupBytes();
  }

  long bytes() {
    return scaleBytes() + codeBytes();
  }

  long keyScalesAt() {
    return 0;
  }

  long valueScalesAt() {
    return SIDE_SCALE_BYTES;
  }

  long keyCodesAt(int kvHead) {
    return scaleBytes()
        + kvHead / valueHeads * groupBytes()
        + (long) (kvHead % valueHeads) * keys.bytes();
  }

  long valueCodesAt(int group) {
    return scaleBytes() + group * groupBytes() + (long) valueHeads * keys.bytes();
  }

  @Override
  public String toString() {
    String ofKeys =
        "%d KV heads of %d channels in %s".formatted(kvHeads, keyDim, text(keys, keys.stages()));
    if (isByHead() && hasOneWidth()) {
      return ofKeys;
    }
    String ofValues =
        values instanceof StageCodes stages
            ? text(stages, stages.stages())
            : values.sets() + " bits";
    return valueHeads == 1
        ? "%s, and values of %d in %s".formatted(ofKeys, valueDim, ofValues)
        : "%s, and values of %d heads of %d in %s"
            .formatted(ofKeys, valueHeads, valueDim, ofValues);
  }

  private static String text(SetCodes codes, int stages) {
    return codes.indexBits() == StageCodes.INDEX_BITS
        ? stages + " stages"
        : "%d stages of %d rows".formatted(stages, 1 << codes.indexBits());
  }
}
