package dev.kvasir.lab.smooth;

import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.profile.Profile;
import java.util.List;
import java.util.Optional;

/**
 * Factors that keys are divided by, and queries multiplied by, channel for channel (PM-KVQ,
 * equations 9 and 10): {@code factor = (largest |key| of the channel) ^ strength}. {@link
 * FactorSharing} says whether two channels that RoPE turns together have one factor.
 *
 * <p>The published code divides by the square root of the factor, which the paper does not; here it
 * is the factor.
 *
 * @param factors (layers, kvHeads, headDim)
 * @param layers how each layer's strength did
 */
public record Smoothing(float[][][] factors, List<LayerTrial> layers) {
  /** What the paper multiplies positions by, so that slow channels turn as in a longer text. */
  public static final double POSITION_SCALE = 4;

  /** Strengths that are tried: 1/20, 2/20 and so on to 1. */
  public static final int STRENGTHS = 20;

  /**
   * What attention loses when the keys of a layer are coded.
   *
   * @param bits of the codes
   * @param strength the exponent that loses least
   * @param error of the attention output, root of squares relative to the output itself
   * @param plainError the same without smoothing
   */
  public record LayerTrial(int bits, double strength, double error, double plainError) {}

  /**
   * Reads the texts twice: for the reach of every channel, then to try strengths.
   *
   * @param decoder made with the position scale to calibrate for
   * @param bits width of the codes by layer
   * @return nothing where the listener asked to stop
   */
  public static Optional<Smoothing> search(
      TracedDecoder decoder,
      CalibrationTexts texts,
      List<Integer> bits,
      SmoothingSettings settings,
      WorkListener listener) {
    if (bits.size() != decoder.config().layers()) {
      throw new IllegalArgumentException(
          "%d widths for %d layers".formatted(bits.size(), decoder.config().layers()));
    }
    texts.samples().forEach(sample -> settings.check(sample.length));
    SearchProgress progress = new SearchProgress(decoder.config(), texts, listener);
    KeyReach reach = new KeyReach(decoder.config(), settings, progress);
    StrengthTrials trials = new StrengthTrials(decoder, reach, bits, settings, progress);
    for (int[] sample : texts.samples()) {
      if (!decoder.forward(sample, reach)) {
        return Optional.empty();
      }
    }
    for (int[] sample : texts.samples()) {
      if (!decoder.forward(sample, trials)) {
        return Optional.empty();
      }
    }
    return Optional.of(trials.result());
  }

  /** A profile with these factors, under {@code pmkvq/smoothing}. */
  public Profile addTo(Profile profile) {
    int kvHeads = factors[0].length;
    int headDim = factors[0][0].length;
    float[] all = new float[factors.length * kvHeads * headDim];
    for (int row = 0; row < factors.length * kvHeads; row++) {
      System.arraycopy(factors[row / kvHeads][row % kvHeads], 0, all, row * headDim, headDim);
    }
    return profile.with("pmkvq/smoothing", all, factors.length, kvHeads, headDim);
  }
}
