package dev.kvasir.codec.commvq;

import dev.kvasir.codec.Page;
import dev.kvasir.page.StageCodes;

/**
 * The layout of a page.
 *
 * <pre>
 * scales of keys, then of values  (2, 128) halves
 * codes                           (kvHeads) x (StageCodes of keys, StageCodes of values)
 * bytes = 512 + kvHeads * 192 * (keyStages + valueStages)
 * </pre>
 */
public record CommvqShape(int kvHeads, int keyDim, int keyStages, int valueDim, int valueStages) {
  private static final int SIDE_SCALE_BYTES = Short.BYTES * Page.TOKENS;

  /** A shape whose values are as wide as its keys. */
  public CommvqShape(int kvHeads, int headDim, int stages) {
    this(kvHeads, headDim, stages, headDim, stages);
  }

  /** Returns whether keys and values have the same width and number of stages. */
  boolean hasOneWidth() {
    return keyDim == valueDim && keyStages == valueStages;
  }

  StageCodes keyCodes() {
    return new StageCodes(keyStages);
  }

  StageCodes valueCodes() {
    return new StageCodes(valueStages);
  }

  long scaleBytes() {
    return 2L * SIDE_SCALE_BYTES;
  }

  private long headBytes() {
    return (long) (keyStages + valueStages) * StageCodes.STAGE_BYTES;
  }

  long codeBytes() {
    return kvHeads * headBytes();
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
    return scaleBytes() + kvHead * headBytes();
  }

  long valueCodesAt(int kvHead) {
    return keyCodesAt(kvHead) + keyStages * (long) StageCodes.STAGE_BYTES;
  }

  @Override
  public String toString() {
    String keys = "%d KV heads of %d channels in %d stages".formatted(kvHeads, keyDim, keyStages);
    return hasOneWidth()
        ? keys
        : "%s, and values of %d in %d".formatted(keys, valueDim, valueStages);
  }
}
