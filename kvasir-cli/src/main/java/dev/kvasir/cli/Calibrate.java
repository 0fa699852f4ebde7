package dev.kvasir.cli;

import dev.kvasir.LoadOptions;
import dev.kvasir.Model;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.WholeFile;
import dev.kvasir.kernel.Crew;
import dev.kvasir.lab.allocate.Allocation;
import dev.kvasir.lab.allocate.Sensitivities;
import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.lab.smooth.Smoothing;
import dev.kvasir.lab.smooth.SmoothingSettings;
import dev.kvasir.lab.text.BundledText;
import dev.kvasir.profile.Profile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Learns of a model what pmkvq needs, and keeps it in a profile. */
@Command(
    name = "calibrate",
    description = {
      "Learn how many bits each layer deserves and how to even out its keys, for pmkvq.",
      "Reads samples of a text, follows the loss back to keys and values, shares out bits over"
          + " layers, and searches smoothing factors. Both go into a profile. Ctrl-C ends it; what"
          + " was finished is kept, and the same command goes on after it."
    },
    footer = {
      "  kvasir calibrate --out my.profile",
      "  kvasir calibrate --model models/some-model.gguf --text book.txt --bits 3 --out my.profile",
      "  kvasir generate --kv pmkvq:2,budget=16MiB --profile my.profile \"Once upon a time\""
    })
final class Calibrate implements Callable<Integer> {
  private static final String PART = "pmkvq";
  private static final String WIDTHS = PART + "/widths";
  private static final String SENSITIVITIES = PART + "/sensitivities";
  private static final String SMOOTHING = PART + "/smoothing";
  private static final String SETTINGS = PART + "/settings";

  /** Tokens at the beginning of a text that the method never codes. */
  private static final int SINKS = 1;

  private final Streams streams;

  @Mixin private ModelArguments model;

  @Option(
      names = "--out",
      required = true,
      paramLabel = "FILE",
      description = "The profile. One that is there keeps its other parts.")
  private Path out;

  @Option(
      names = "--bits",
      paramLabel = "B",
      defaultValue = "3",
      description = {
        "Code bits of a value in the mean over layers, which have 2, 4 or 8 each.",
        "  Default: ${DEFAULT-VALUE}."
      })
  private double bits;

  @Option(
      names = "--text",
      paramLabel = "FILE",
      description = "The text to learn from. Default: prose that the bundled model made up.")
  private Path text;

  @Option(
      names = "--samples",
      paramLabel = "N",
      defaultValue = "" + CalibrationTexts.COUNT,
      description = "Samples of the text. Default: ${DEFAULT-VALUE}.")
  private int samples;

  @Option(
      names = "--length",
      paramLabel = "N",
      defaultValue = "" + CalibrationTexts.LENGTH,
      description = "Tokens of a sample. Default: ${DEFAULT-VALUE}.")
  private int length;

  @Option(
      names = "--position-scale",
      paramLabel = "S",
      defaultValue = "" + Smoothing.POSITION_SCALE,
      description = {
        "What positions are multiplied by in the search for smoothing factors, so that keys turn as",
        "  in a longer text. Default: ${DEFAULT-VALUE}."
      })
  private double positionScale;

  @Option(
      names = "--seed",
      paramLabel = "S",
      defaultValue = "1",
      description = "The same seed takes the same samples. Default: ${DEFAULT-VALUE}.")
  private long seed;

  @Mixin private LoadArguments load;

  Calibrate(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    check();
    String name = text == null ? "the bundled prose" : text.toString();
    String words = text == null ? BundledText.filler() : TextArgument.readFile(text);
    LoadOptions options = load.options();
    try (Model loaded = model.load(options, streams);
        Crew crew = new Crew(options.threads());
        Interruption interruption = Interruption.watch()) {
      CalibrationTexts texts = CalibrationTexts.choose(loaded, name, words, samples, length, seed);
      Profile before = Profile.openOrEmpty(out, loaded.fingerprint(), loaded.name());
      Optional<Profile> made =
          withWidths(before, loaded, texts, words, crew, interruption)
              .flatMap(profile -> withSmoothing(profile, loaded, texts, crew, interruption));
      if (made.isEmpty()) {
        streams.note("interrupted; what was finished is in %s".formatted(out));
        return Interruption.EXIT_CODE;
      }
      return 0;
    }
  }

  private void check() {
    WholeFile.checkWritable(out);
    OptionValue.atLeastOne("--samples", samples);
    SmoothingSettings used = SmoothingSettings.defaults();
    OptionValue.atLeast("--length", length, used.sinks() + used.window() + 1);
    if (!(bits >= 2 && bits <= 8)) {
      throw new InvalidInputException("--bits is %s; expected 2 to 8".formatted(bits));
    }
    if (!(positionScale >= 1 && positionScale <= 64)) {
      throw new InvalidInputException(
          "--position-scale is %s; expected 1 to 64".formatted(positionScale));
    }
  }

  /** Gradients take most of the time, so a profile that has them from the same samples is kept. */
  private Optional<Profile> withWidths(
      Profile before,
      Model loaded,
      CalibrationTexts texts,
      String words,
      Crew crew,
      Interruption interruption) {
    String settings =
        "samples %d, length %d, seed %d, text %08x"
            .formatted(samples, length, seed, words.hashCode());
    int layers = loaded.config().layers();
    int count = Sensitivities.WIDTHS.size();
    Sensitivities found;
    if (before.note(SETTINGS).equals(Optional.of(settings))
        && before.shape(SENSITIVITIES).isPresent()) {
      found = unpacked(before.floats(SENSITIVITIES, 2, layers, count), layers);
    } else {
      try (Watch watch = new Watch(streams, "gradients", interruption)) {
        TracedDecoder decoder = TracedDecoder.of(loaded, 1, crew);
        Optional<Sensitivities> measured =
            Sensitivities.measure(decoder, texts, Sensitivities.WIDTHS, SINKS, watch);
        if (measured.isEmpty()) {
          return Optional.empty();
        }
        found = measured.get();
      }
    }
    Allocation allocation = Allocation.within(found, bits);
    print(found, allocation);
    Profile made =
        before
            .without(PART)
            .withNote(SETTINGS, settings)
            .with(SENSITIVITIES, packed(found), 2, layers, count)
            .with(WIDTHS, floats(allocation.bits()), layers);
    made.write(out);
    return Optional.of(made);
  }

  private Optional<Profile> withSmoothing(
      Profile before, Model loaded, CalibrationTexts texts, Crew crew, Interruption interruption) {
    int layers = loaded.config().layers();
    float[] widths = before.floats(WIDTHS, layers);
    List<Integer> wanted =
        IntStream.range(0, layers).mapToObj(layer -> (int) widths[layer]).toList();
    try (Watch watch = new Watch(streams, "smoothing", interruption)) {
      TracedDecoder decoder = TracedDecoder.of(loaded, positionScale, crew);
      Optional<Smoothing> found =
          Smoothing.search(decoder, texts, wanted, SmoothingSettings.defaults(), watch);
      return found.map(smoothing -> keep(before, smoothing, loaded));
    }
  }

  private Profile keep(Profile before, Smoothing smoothing, Model loaded) {
    print(smoothing);
    Profile made =
        before.with(
            SMOOTHING,
            flat(smoothing.factors()),
            loaded.config().layers(),
            loaded.config().kvHeads(),
            loaded.config().headDim());
    made.write(out);
    return made;
  }

  private void print(Sensitivities found, Allocation allocation) {
    streams.out().println("layer    2 bits    4 bits    8 bits  width");
    for (int layer = 0; layer < found.layers(); layer++) {
      streams
          .out()
          .println(
              String.format(
                  Locale.ROOT,
                  "%5d %9.4f %9.4f %9.4f %6d",
                  layer,
                  found.of(layer, 2),
                  found.of(layer, 4),
                  found.of(layer, 8),
                  allocation.bits().get(layer)));
    }
    streams
        .out()
        .println(
            String.format(
                Locale.ROOT,
                "%.2f bits in the mean, sensitivity %.4f",
                allocation.meanBits(),
                allocation.sensitivity()));
    streams.out().flush();
  }

  private void print(Smoothing smoothing) {
    streams.out().println("layer  strength  attention error: plain  smoothed");
    for (int layer = 0; layer < smoothing.layers().size(); layer++) {
      Smoothing.LayerTrial trial = smoothing.layers().get(layer);
      streams
          .out()
          .println(
              String.format(
                  Locale.ROOT,
                  "%5d %9.2f %23.4f %9.4f",
                  layer,
                  trial.strength(),
                  trial.plainError(),
                  trial.error()));
    }
    streams.out().flush();
  }

  /** (keys and values, layers, widths). */
  private static float[] packed(Sensitivities found) {
    List<Float> all = new ArrayList<>();
    for (double[][] side : List.of(found.keys(), found.values())) {
      for (double[] layer : side) {
        for (double value : layer) {
          all.add((float) value);
        }
      }
    }
    return unboxed(all);
  }

  private static Sensitivities unpacked(float[] all, int layers) {
    int count = Sensitivities.WIDTHS.size();
    double[][][] sides = new double[2][layers][count];
    for (int i = 0; i < all.length; i++) {
      sides[i / (layers * count)][i / count % layers][i % count] = all[i];
    }
    return new Sensitivities(Sensitivities.WIDTHS, sides[0], sides[1], Double.NaN);
  }

  private static float[] floats(List<Integer> numbers) {
    return unboxed(numbers.stream().map(Integer::floatValue).toList());
  }

  private static float[] flat(float[][][] factors) {
    List<Float> all = new ArrayList<>();
    for (float[][] layer : factors) {
      for (float[] head : layer) {
        for (float factor : head) {
          all.add(factor);
        }
      }
    }
    return unboxed(all);
  }

  private static float[] unboxed(List<Float> numbers) {
    float[] array = new float[numbers.size()];
    for (int i = 0; i < array.length; i++) {
      array[i] = numbers.get(i);
    }
    return array;
  }
}
