package dev.kvasir.codec;

import java.util.function.UnaryOperator;

/**
 * Serializes blocks far from the end of a sequence with fewer bits. It requantizes the vectors that
 * attention reads. In memory, the pages stay unchanged until the sequence is restored.
 *
 * @param minDistance tokens that must follow a page
 * @param codec quantizes old pages; stateless
 */
public record ColdBlocks(int minDistance, StatelessCodec codec) {
  /**
   * Returns whether a page is old.
   *
   * @param end position after the page
   * @param length tokens of the sequence
   */
  public boolean includes(int end, int length) {
    return length - end >= minDistance;
  }

  /** Returns a copy with a transformed codec, which must be stateless as well. */
  ColdBlocks mapCodec(UnaryOperator<PageCodec> change) {
    return new ColdBlocks(minDistance, (StatelessCodec) change.apply(codec));
  }

  /**
   * Returns the serialized page.
   *
   * @param keys (kvHeads, tokens, keyDim), as attention reads them
   * @param values (kvHeads, tokens, valueDim); of any length if values are part of keys
   */
  public byte[] serialize(int layer, int position, float[] keys, float[] values) {
    try (Page cold = codec.quantize(layer, position, keys, values)) {
      return cold.serialize();
    }
  }
}
