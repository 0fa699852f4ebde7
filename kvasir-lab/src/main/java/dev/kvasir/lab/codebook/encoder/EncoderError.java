package dev.kvasir.lab.codebook.encoder;

import dev.kvasir.codec.commvq.EncoderWeights;
import dev.kvasir.codec.commvq.ValueEncoder;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.lab.codebook.encoder.AttendedTokens.RelativeError;
import java.lang.foreign.Arena;

/** Measures an encoder in the form that caches use, with numbers and scales in half precision. */
public final class EncoderError {
  private EncoderError() {}

  /**
   * @param tokens tokens that the encoder was not trained on
   */
  public static RelativeError of(EncoderWeights weights, int kvHeads, AttendedTokens tokens) {
    Kernels kernels = KernelChoice.ofThisProcess().kernels();
    byte[] bits = new byte[tokens.count() * weights.bits()];
    short[] scales = new short[tokens.count()];
    float[] back = new float[tokens.x().length];
    try (Arena memory = Arena.ofConfined()) {
      ValueEncoder encoder = ValueEncoder.of(weights, kvHeads, memory);
      ValueEncoder.Workspace workspace = new ValueEncoder.Workspace(encoder);
      encoder.encode(kernels, workspace, tokens.x(), tokens.count(), bits, scales);
      encoder.decode(kernels, bits, scales, tokens.count(), back);
    }
    return tokens.error(kernels, back);
  }
}
