package dev.kvasir.codec.commvq;

import dev.kvasir.codec.Page;
import dev.kvasir.page.StageCodes;

/**
 * Where the parts of a page lie.
 *
 * <pre>
 * scales of keys, then of values  (2, 128) halves
 * codes                           (kvHeads, keys and values) x StageCodes
 * bytes = 512 + kvHeads * 2 * 192 * stages
 * </pre>
 */
public record CommvqShape(int kvHeads, int headDim, int stages) {
  private static final int SIDE_SCALE_BYTES = Short.BYTES * Page.TOKENS;

  StageCodes codes() {
    return new StageCodes(stages);
  }

  long scaleBytes() {
    return 2L * SIDE_SCALE_BYTES;
  }

  /** Codes of a head's keys, or of its values. */
  private int sideCodeBytes() {
    return stages * StageCodes.STAGE_BYTES;
  }

  long codeBytes() {
    return 2L * kvHeads * sideCodeBytes();
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
    return scaleBytes() + 2L * kvHead * sideCodeBytes();
  }

  long valueCodesAt(int kvHead) {
    return keyCodesAt(kvHead) + sideCodeBytes();
  }

  @Override
  public String toString() {
    return "%d KV heads of %d channels in %d stages".formatted(kvHeads, headDim, stages);
  }
}
