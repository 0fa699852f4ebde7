package dev.kvasir.cli.lab;

import dev.kvasir.cli.terminal.Interruption;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.codec.LayerRotations;
import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.codec.commvq.LayerCodebooks;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.codebook.AsymmetricError;
import dev.kvasir.lab.codebook.LayerTrial;
import dev.kvasir.lab.codebook.VectorSample;
import dev.kvasir.lab.codebook.VectorSample.Side;
import dev.kvasir.lab.codebook.encoder.AttendedTokens;
import dev.kvasir.lab.codebook.encoder.EncoderLoss;
import dev.kvasir.lab.codebook.encoder.EncoderRecipe;
import dev.kvasir.lab.codebook.encoder.EncoderSettings;
import dev.kvasir.lab.codebook.encoder.EncoderTrial;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/** Prints the residual errors of a layer's codebooks, each line as soon as it is known. */
final class CodebookReport {
  private static final List<Integer> STAGES = List.of(1, 2, 3, 5, 8, 11);

  /** Numbers of parts that the channel pairs of a head are split into. */
  private static final List<Integer> SPLITS = List.of(4, 2, 1);

  /** A sample for training or testing codebooks. */
  record NamedSample(String name, VectorSample sample) {}

  private final Streams streams;
  private final LayerTrial trial;
  private final int layer;
  private final Map<String, Double> figures;

  /**
   * @param figures receives the figures of stages, pairs and texts by name
   */
  CodebookReport(
      Streams streams,
      int layer,
      int threads,
      long seed,
      Interruption interruption,
      Map<String, Double> figures) {
    this.streams = streams;
    this.layer = layer;
    this.figures = figures;
    this.trial = new LayerTrial(layer, threads, seed, interruption::isRequested);
  }

  /**
   * @param length tokens after which the positions of the test restart
   */
  void stages(VectorSample training, VectorSample test, int length, LayerRotations rotations) {
    line("layer %d, trained on %s", layer, Units.tokens(training.count()));
    line("stages   bits    keys  values");
    for (int stages : STAGES) {
      Optional<LayerCodebooks> books = trial.train(training, stages);
      if (books.isEmpty()) {
        return;
      }
      double keys = trial.relativeError(test, books.get(), Side.KEYS);
      double values = trial.relativeError(test, books.get(), Side.VALUES);
      line("%6d %6.2f %7.4f %7.4f", stages, bits(test, stages), keys, values);
      figures.put("keys after %d stages".formatted(stages), keys);
      figures.put("values after %d stages".formatted(stages), values);
    }
    AsymmetricError asymmetric = new AsymmetricError(test, length, rotations);
    for (int bits = 1; bits <= 3; bits++) {
      line(
          "kivi:%d %6.2f %7.4f %7.4f  and scales",
          bits,
          (double) bits,
          asymmetric.of(Side.KEYS, layer, bits),
          asymmetric.of(Side.VALUES, layer, bits));
    }
  }

  private static double bits(VectorSample sample, int stages) {
    return (double) AdditiveStages.CODE_BITS * stages / sample.shape().headDim();
  }

  void pairs(VectorSample training, VectorSample test) {
    int pairs = training.shape().headDim() / 2;
    line("%npairs of a code  stages   bits  keys without their mean");
    for (int times = 1; times <= 2; times++) {
      for (int splits : SPLITS) {
        int stages = times * SPLITS.getFirst() / splits;
        OptionalDouble left = trial.groupedKeyError(training, test, pairs / splits, stages);
        if (left.isEmpty()) {
          return;
        }
        double bits = bits(test, stages) * splits;
        line("%15d %7d %6.2f %24.4f", pairs / splits, stages, bits, left.getAsDouble());
        figures.put(
            String.format(
                Locale.ROOT, "keys with codes of %d pairs, %.2f bits", pairs / splits, bits),
            left.getAsDouble());
      }
    }
  }

  void texts(List<NamedSample> trained, List<NamedSample> tests, int stages) {
    line("%n%d stages   tested on     keys  values", stages);
    for (NamedSample training : trained) {
      Optional<LayerCodebooks> books = trial.train(training.sample(), stages);
      if (books.isEmpty()) {
        return;
      }
      for (NamedSample test : tests) {
        double keys = trial.relativeError(test.sample(), books.get(), Side.KEYS);
        double values = trial.relativeError(test.sample(), books.get(), Side.VALUES);
        line("%-15s %-8s %9.4f %7.4f", training.name(), test.name(), keys, values);
        figures.put("keys of %s after %s".formatted(test.name(), training.name()), keys);
        figures.put("values of %s after %s".formatted(test.name(), training.name()), values);
      }
    }
  }

  /** Prints the paper's encoder, trained with each loss, at the bits of stages. */
  void encoder(
      EncoderTrial learned,
      VectorSample training,
      int stages,
      int steps,
      ProgressListener listener) {
    Optional<LayerCodebooks> books = trial.train(training, stages);
    if (books.isEmpty()) {
      return;
    }
    int width = training.shape().kvHeads() * training.shape().headDim();
    line("%nlayer %d              bits  values  outputs", layer);
    encoder("stages", bits(training, stages), learned.ofStages(books.get()));
    int bits = AdditiveStages.CODE_BITS * stages * training.shape().kvHeads();
    for (EncoderLoss loss : EncoderLoss.values()) {
      EncoderSettings settings =
          new EncoderSettings(
              bits,
              EncoderSettings.hidden(bits),
              steps,
              EncoderSettings.DEFAULT_BATCH,
              loss,
              EncoderRecipe.SHORT);
      String name = "encoder, " + loss.name().toLowerCase(Locale.ROOT);
      learned
          .train(settings, listener)
          .ifPresent(left -> encoder(name, (double) bits / width, left));
    }
  }

  private void encoder(String name, double bits, AttendedTokens.RelativeError left) {
    line("%-18s %6.2f %7.4f %8.4f", name, bits, left.ofValues(), left.ofOutputs());
    figures.put("values, " + name, left.ofValues());
    figures.put("outputs, " + name, left.ofOutputs());
  }

  private void line(String format, Object... values) {
    streams.out().println(String.format(Locale.ROOT, format, values));
    streams.out().flush();
  }
}
