package dev.kvasir.codec;

import java.util.function.UnaryOperator;

/**
 * How pages are stored that lie far behind a sequence's end: packed anew with fewer bits, of what
 * attention sees of them. In memory they stay as they are until the sequence is restored.
 *
 * @param behind tokens that must follow a page
 * @param codec packs them, and keeps nothing of a sequence
 */
public record ColdBlocks(int minDistance, StatelessCodec codec) {
  /**
   * @param end position behind a page
   * @param length tokens of the sequence
   */
  public boolean includes(int end, int length) {
    return length - end >= minDistance;
  }

  /** The same with what becomes of the codec, which keeps nothing of a sequence either. */
  ColdBlocks mapCodec(UnaryOperator<PageCodec> change) {
    return new ColdBlocks(minDistance, (StatelessCodec) change.apply(codec));
  }

  /**
   * The stored form of a page.
   *
   * @param keys (kvHeads, tokens, keyDim), as attention sees them
   * @param values (kvHeads, tokens, valueDim); of any length where they are part of keys
   */
  public byte[] serialize(int layer, int position, float[] keys, float[] values) {
    try (Page narrow = codec.quantize(layer, position, keys, values)) {
      return narrow.serialize();
    }
  }
}
