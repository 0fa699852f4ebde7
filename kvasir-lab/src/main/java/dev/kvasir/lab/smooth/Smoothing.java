package dev.kvasir.lab.smooth;

import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.lab.work.PartListener;
import dev.kvasir.lab.work.Piece;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.profile.Profile;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

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
   * @param positionScale to calibrate for
   * @param bits width of the codes by layer
   * @return nothing where the listener asked to stop
   */
  public static Optional<Smoothing> search(
      Runner runner,
      ModelConfig config,
      CalibrationTexts texts,
      double positionScale,
      List<Integer> bits,
      SmoothingSettings settings,
      WorkListener listener) {
    if (bits.size() != config.layers()) {
      throw new IllegalArgumentException(
          "%d widths for %d layers".formatted(bits.size(), config.layers()));
    }
    texts.samples().forEach(sample -> settings.check(sample.length));
    Texts search = new Texts(runner, texts.samples(), positionScale, listener);
    return search
        .reach(settings)
        .flatMap(
            reach ->
                search
                    .trials(reach, bits, settings)
                    .map(sums -> of(config, reach, sums, bits, settings)));
  }

  /** What is asked of every text. */
  private record Texts(
      Runner runner, List<int[]> samples, double positionScale, WorkListener listener) {
    Optional<KeyReach> reach(SmoothingSettings settings) {
      List<TextReach> pieces =
          IntStream.range(0, samples.size())
              .mapToObj(i -> new TextReach(i, samples.get(i), positionScale, settings.sinks()))
              .toList();
      return all(pieces, new PartListener(listener, 0, 1, 3)).map(KeyReach::of);
    }

    Optional<TrialSums> trials(KeyReach reach, List<Integer> bits, SmoothingSettings settings) {
      List<TextTrials> pieces =
          IntStream.range(0, samples.size())
              .mapToObj(
                  i -> new TextTrials(i, samples.get(i), positionScale, reach, bits, settings))
              .toList();
      return all(pieces, new PartListener(listener, 1, 2, 3)).map(TrialSums::of);
    }

    private <R extends Serializable> Optional<List<R>> all(
        List<? extends Piece<R>> pieces, WorkListener part) {
      List<R> results = new ArrayList<>(Collections.nCopies(pieces.size(), null));
      boolean whole = runner.<R>run(pieces, part, results::set);
      return whole ? Optional.of(results) : Optional.empty();
    }
  }

  private static Smoothing of(
      ModelConfig config,
      KeyReach reach,
      TrialSums sums,
      List<Integer> bits,
      SmoothingSettings settings) {
    float[][][] factors = new float[config.layers()][][];
    List<LayerTrial> layers = new ArrayList<>();
    for (int layer = 0; layer < factors.length; layer++) {
      int best = sums.best(layer);
      double strength = StrengthTrials.strength(best);
      factors[layer] = reach.factorsByHead(config, settings.sharing(), layer, strength);
      layers.add(
          new LayerTrial(bits.get(layer), strength, sums.error(layer, best), sums.error(layer, 0)));
    }
    return new Smoothing(factors, List.copyOf(layers));
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
