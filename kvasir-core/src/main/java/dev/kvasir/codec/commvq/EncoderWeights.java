package dev.kvasir.codec.commvq;

/**
 * The learned numbers of one layer. The network computes {@code outer . gelu(inner . (gain n +
 * shift) + innerBias) + outerBias} of an {@link EncoderInput}: four logits for every two bits.
 *
 * @param channelScales mean sizes of the channels of values // (width)
 * @param gain of the layer norm // (width)
 * @param shift of the layer norm // (width)
 * @param inner // (hidden, width)
 * @param innerBias // (hidden)
 * @param outer // (2 * bits, hidden)
 * @param outerBias // (2 * bits)
 * @param codebook the row that each set bit adds, for values divided by channel scales // (bits,
 *     width)
 */
public record EncoderWeights(
    float[] channelScales,
    float[] gain,
    float[] shift,
    float[] inner,
    float[] innerBias,
    float[] outer,
    float[] outerBias,
    float[] codebook) {
  public EncoderWeights {
    require("gain", gain, channelScales.length);
    require("shift", shift, channelScales.length);
    require("inner", inner, (long) innerBias.length * channelScales.length);
    require("outer", outer, (long) outerBias.length * innerBias.length);
    require("codebook", codebook, (long) outerBias.length / 2 * channelScales.length);
    if (outerBias.length % BitPairs.CHOICES != 0) {
      throw new IllegalArgumentException(outerBias.length + " logits; expected a multiple of 4");
    }
  }

  private static void require(String name, float[] numbers, long expected) {
    if (numbers.length != expected) {
      throw new IllegalArgumentException(
          "%s has %d numbers; expected %d".formatted(name, numbers.length, expected));
    }
  }

  /** Returns the channels of a token's values, all KV heads together. */
  public int width() {
    return channelScales.length;
  }

  public int hidden() {
    return innerBias.length;
  }

  /** Returns the bits of a token. */
  public int bits() {
    return outerBias.length / 2;
  }
}
