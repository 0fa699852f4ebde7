package dev.kvasir.lab.smooth;

import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.lab.gradient.LayerVectors;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.lab.gradient.TracedTask;
import dev.kvasir.lab.work.LabTask;
import dev.kvasir.lab.work.PartListener;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.lab.work.WorkCancelledException;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.profile.Profile;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Smoothing factors by which keys are divided and queries multiplied, per channel (PM-KVQ,
 * equations 9 and 10): {@code factor = (largest |key| of the channel) ^ strength}. {@link
 * FactorSharing} determines whether the channels of a rotary pair share a factor.
 *
 * <p>The published code divides by the square root of the factor; this implementation follows the
 * paper and divides by the factor.
 *
 * @param factors (layers, kvHeads, headDim)
 * @param layers result of each layer
 */
public record KeySmoothing(float[][][] factors, List<LayerResult> layers) {
  /** The paper's factor for positions, so that slow channels rotate as in a longer text. */
  public static final double POSITION_SCALE = 4;

  /** Number of strengths: 1/20, 2/20 and so on to 1. */
  public static final int STRENGTHS = 20;

  /**
   * The attention error of a layer with quantized keys.
   *
   * @param bits bits of the codes
   * @param strength exponent with the smallest error
   * @param error root of squared output errors relative to the output
   * @param plainError the same without smoothing
   */
  public record LayerResult(int bits, double strength, double error, double plainError) {}

  /**
   * Reads the texts twice: for the magnitudes of channels, then to test strengths.
   *
   * @param positionScale factor for positions
   * @param bits width of the codes by layer
   * @return empty if the listener cancelled the search
   */
  public static Optional<KeySmoothing> search(
      Runner runner,
      ModelConfig config,
      CalibrationTexts texts,
      double positionScale,
      List<Integer> bits,
      SmoothingSettings settings,
      ProgressListener listener) {
    if (bits.size() != config.layers()) {
      throw new IllegalArgumentException(
          "%d widths for %d layers".formatted(bits.size(), config.layers()));
    }
    texts.samples().forEach(sample -> settings.check(sample.length));
    SmoothingSearch search = new SmoothingSearch(runner, texts.samples(), positionScale, listener);
    return search
        .absMax(settings)
        .flatMap(
            absMax ->
                search
                    .trials(absMax, bits, settings)
                    .map(sums -> of(config, absMax, sums, bits, settings)));
  }

  /** The two passes over all texts. */
  private record SmoothingSearch(
      Runner runner, List<int[]> samples, double positionScale, ProgressListener listener) {
    Optional<KeyAbsMax> absMax(SmoothingSettings settings) {
      List<KeyAbsMaxTask> tasks =
          IntStream.range(0, samples.size())
              .mapToObj(i -> new KeyAbsMaxTask(i, samples.get(i), positionScale, settings.sinks()))
              .toList();
      return all(tasks, new PartListener(listener, 0, 1, 3)).map(KeyAbsMax::of);
    }

    Optional<StrengthErrors> trials(
        KeyAbsMax absMax, List<Integer> bits, SmoothingSettings settings) {
      List<StrengthTrialTask> tasks =
          IntStream.range(0, samples.size())
              .mapToObj(
                  i ->
                      new StrengthTrialTask(
                          i, samples.get(i), positionScale, absMax, bits, settings))
              .toList();
      return all(tasks, new PartListener(listener, 1, 2, 3)).map(StrengthErrors::of);
    }

    private <R extends Serializable> Optional<List<R>> all(
        List<? extends LabTask<R>> tasks, ProgressListener part) {
      List<R> results = new ArrayList<>(Collections.nCopies(tasks.size(), null));
      boolean complete = runner.<R>run(tasks, part, results::set);
      return complete ? Optional.of(results) : Optional.empty();
    }
  }

  private static KeySmoothing of(
      ModelConfig config,
      KeyAbsMax absMax,
      StrengthErrors sums,
      List<Integer> bits,
      SmoothingSettings settings) {
    float[][][] factors = new float[config.layers()][][];
    List<LayerResult> layers = new ArrayList<>();
    for (int layer = 0; layer < factors.length; layer++) {
      int best = sums.best(layer);
      double strength = StrengthTrials.strength(best);
      factors[layer] = absMax.factorsByHead(config, settings.sharing(), layer, strength);
      layers.add(
          new LayerResult(
              bits.get(layer), strength, sums.error(layer, best), sums.error(layer, 0)));
    }
    return new KeySmoothing(factors, List.copyOf(layers));
  }

  /** Returns a profile with these factors under {@code pmkvq/smoothing}. */
  public Profile addTo(Profile profile) {
    int kvHeads = factors[0].length;
    int headDim = factors[0][0].length;
    float[] all = new float[factors.length * kvHeads * headDim];
    for (int row = 0; row < factors.length * kvHeads; row++) {
      System.arraycopy(factors[row / kvHeads][row % kvHeads], 0, all, row * headDim, headDim);
    }
    return profile.with("pmkvq/smoothing", all, factors.length, kvHeads, headDim);
  }

  /**
   * Finds the largest key magnitudes of one text.
   *
   * @param number number of the text, from 0 on
   * @param sinks leading tokens that do not count
   */
  private record KeyAbsMaxTask(int number, int[] text, double positionScale, int sinks)
      implements TracedTask<KeyAbsMax> {
    @Override
    public String name() {
      return "key magnitudes of sample %d".formatted(number + 1);
    }

    @Override
    public double cost() {
      return text.length;
    }

    /** Skips tokens that are never quantized: keys of the first token are often outliers. */
    @Override
    public KeyAbsMax run(TracedDecoder decoder, ProgressListener listener) {
      KeyAbsMax absMax = KeyAbsMax.none(decoder.config());
      TextVisitor visitor =
          new TextVisitor() {
            @Override
            public boolean forward(LayerVectors vectors) {
              absMax.add(vectors.layer(), vectors.keys(), sinks);
              listener.progress(vectors.layer() + 1, decoder.config().layers());
              return !listener.isCancelled();
            }
          };
      if (!decoder.forward(text, visitor)) {
        throw new WorkCancelledException();
      }
      return absMax;
    }
  }

  /**
   * Tests all smoothing strengths on one text.
   *
   * @param number number of the text, from 0 on
   * @param absMax largest key magnitudes of all texts
   * @param bits width of the codes by layer
   */
  private record StrengthTrialTask(
      int number,
      int[] text,
      double positionScale,
      KeyAbsMax absMax,
      List<Integer> bits,
      SmoothingSettings settings)
      implements TracedTask<StrengthErrors> {
    @Override
    public String name() {
      return "trials of factors in sample %d".formatted(number + 1);
    }

    /** Testing strengths about doubles the time of a layer. */
    @Override
    public double cost() {
      return 2.0 * text.length;
    }

    @Override
    public StrengthErrors run(TracedDecoder decoder, ProgressListener listener) {
      StrengthTrials trials = new StrengthTrials(decoder, absMax, bits, settings, listener);
      if (!decoder.forward(text, trials)) {
        throw new WorkCancelledException();
      }
      return trials.sums();
    }
  }
}
