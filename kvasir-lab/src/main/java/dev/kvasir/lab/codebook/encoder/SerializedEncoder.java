package dev.kvasir.lab.codebook.encoder;

import dev.kvasir.codec.commvq.EncoderWeights;
import java.io.Serializable;

/**
 * The numbers of an encoder, as a task returns them.
 *
 * @param channelScales (width)
 * @param numbers in the order of {@link EncoderParameters}
 */
record SerializedEncoder(int hidden, int bits, float[] channelScales, float[] numbers)
    implements Serializable {
  EncoderWeights weights() {
    return new EncoderParameters(channelScales.length, hidden, bits)
        .weights(channelScales, numbers);
  }
}
