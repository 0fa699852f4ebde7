package dev.kvasir.cli.lab;

import dev.kvasir.cli.arguments.LoadArguments;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.arguments.TextArgument;
import dev.kvasir.cli.lab.CodebookReport.NamedSample;
import dev.kvasir.cli.origin.Origin;
import dev.kvasir.cli.terminal.Interruption;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.codec.commvq.CommvqProfile;
import dev.kvasir.codec.commvq.EncoderProfile;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.OptionValue;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.calibrator.commvq.EncoderTable;
import dev.kvasir.lab.calibrator.commvq.HeldOutTable;
import dev.kvasir.lab.codebook.SamplePlan;
import dev.kvasir.lab.codebook.VectorSample;
import dev.kvasir.lab.codebook.encoder.EncoderTrial;
import dev.kvasir.lab.report.MeasurementsFile;
import dev.kvasir.lab.task.TaskText;
import dev.kvasir.lab.text.BundledText;
import dev.kvasir.lab.text.FirstTokens;
import dev.kvasir.lab.work.LocalRunner;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows the errors of one layer's codebooks by stages, channel pairs and training text. */
@Command(
    name = "codebooks",
    description = {
      "Show the error that commvq codebooks leave in keys and values.",
      "Trains codebooks of one layer with different numbers of stages and channel"
          + " pairs and on different texts, and prints their error on other text. Or prints"
          + " the error of a profile's codebooks, layer by layer."
    },
    footer = {
      "  kvasir codebooks",
      "  kvasir codebooks --layer 5 --tables texts --text book.txt",
      "  kvasir codebooks --layer 5 --tables encoder",
      "  kvasir codebooks --tables profile --profile my.profile --text book.txt",
      "  kvasir codebooks --model model.gguf --layer 12 --tokens 8192"
    })
public final class ShowCodebooks implements Callable<Integer> {
  private static final List<Integer> WIDTHS = List.of(1, 2, 3, 4);
  private static final int MIN_TOKENS = 256;
  private static final int LENGTH = 2048;
  private static final int MAX_TEST_TOKENS = 4096;

  /** The minimum number of tokens in a round. */
  private static final int TOKENS_PER_ROUND = 600;

  /** The available tables. */
  enum Table {
    PROFILE,
    STAGES,
    PAIRS,
    TEXTS,
    ENCODER
  }

  private final Streams streams;
  private final Map<String, Double> figures = new LinkedHashMap<>(); // in printing order

  @Spec private CommandSpec command;
  @Mixin private ModelArguments model;

  @Option(names = "--layer", paramLabel = "L", description = "The layer. Default: the middle one.")
  private Integer layer;

  @Option(
      names = "--tables",
      paramLabel = "TABLE",
      split = ",",
      defaultValue = "stages,pairs,texts",
      description =
          "Tables to print, separated by commas: profile covers all layers and trains"
              + " nothing; stages, pairs and texts train codebooks; encoder trains the paper's"
              + " encoder of values with each loss. Default: ${DEFAULT-VALUE}.")
  private List<String> tables;

  @Option(
      names = "--bits",
      paramLabel = "B",
      defaultValue = "1",
      description = "Bits per channel in the tables texts and encoder. Default: ${DEFAULT-VALUE}.")
  private int bits;

  @Option(
      names = "--tokens",
      paramLabel = "N",
      defaultValue = "8192",
      description = "Tokens to train on. Default: ${DEFAULT-VALUE}.")
  private int tokens;

  @Option(
      names = "--steps",
      paramLabel = "N",
      defaultValue = "1000",
      description = "Training steps of the encoder, 128 tokens each. Default: ${DEFAULT-VALUE}.")
  private int steps;

  @Option(
      names = "--text",
      paramLabel = "FILE",
      description =
          "Text to test on: instead of the bundled prose in the table profile, in"
              + " addition to it in the table texts.")
  private Path text;

  @Option(
      names = "--seed",
      paramLabel = "S",
      defaultValue = "1",
      description =
          "Random seed. The same seed trains the same codebooks. Default:" + " ${DEFAULT-VALUE}.")
  private long seed;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Write the figures of the tables to a JSON file.")
  private Path json;

  @Mixin private LoadArguments load;

  public ShowCodebooks(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    List<Table> wanted =
        tables.stream().map(name -> OptionValue.oneOf("--tables", name, Table.class)).toList();
    int least = wanted.contains(Table.ENCODER) ? EncoderTrial.MIN_TOKENS : MIN_TOKENS;
    OptionValue.between("--tokens", tokens, least, 1 << 20);
    OptionValue.between("--bits", bits, 1, 4);
    OptionValue.atLeastOne("--steps", steps);
    if (json != null) {
      AtomicFile.checkWritable(json);
    }
    String own = text == null ? "" : TextArgument.readFile(text);
    EngineOptions options = load.options();
    try (LoadedModel loaded = model.load(options, streams);
        Interruption interruption = Interruption.install()) {
      Samples samples = new Samples(loaded, interruption);
      if (wanted.contains(Table.PROFILE)) {
        profile(loaded, samples, own);
      }
      if (wanted.stream().anyMatch(table -> table != Table.PROFILE)) {
        CodebookReport report =
            new CodebookReport(
                streams, layer(loaded), options.threads(), seed, interruption, figures);
        train(report, wanted, samples, own);
      }
      if (interruption.isRequested()) {
        return Interruption.EXIT_CODE;
      }
      if (json != null) {
        MeasurementsFile.write(json, figures, Origin.of(command));
      }
      return 0;
    }
  }

  private int layer(LoadedModel loaded) {
    int layers = loaded.config().layers();
    if (layer != null && (layer < 0 || layer >= layers)) {
      throw new InvalidInputException(
          "--layer is %d; expected 0 to %d".formatted(layer, layers - 1));
    }
    return layer == null ? layers / 2 : layer;
  }

  private void profile(LoadedModel loaded, Samples samples, String own) {
    Profile profile =
        loaded
            .profile()
            .orElseThrow(
                () ->
                    new InvalidInputException(
                        "the model has no profile; give one with --profile FILE"));
    List<Integer> widths =
        WIDTHS.stream().filter(bits -> profile.has(CommvqProfile.part(bits))).toList();
    List<Integer> encoded =
        WIDTHS.stream().filter(bits -> profile.has(EncoderProfile.part(bits))).toList();
    if (widths.isEmpty() && encoded.isEmpty()) {
      throw new InvalidInputException("%s: has no codebooks".formatted(profile.name()));
    }
    VectorSample test =
        own.isEmpty()
            ? samples.read(BundledText.stream(), "prose", testTokens())
            : samples.read(own, text.toString(), testTokens());
    if (samples.interruption.isRequested()) {
      return;
    }
    HeldOutTable table =
        new HeldOutTable(test, length(loaded), loaded.config().rotations().orElseThrow());
    for (int width : widths) {
      table.print(
          CommvqProfile.of(profile, width, loaded.config().cacheShape()),
          streams.out(),
          figures::put);
    }
    for (int width : encoded) {
      EncoderTable.print(
          EncoderProfile.of(profile, width, loaded.config().cacheShape()),
          test,
          streams.out(),
          figures::put);
    }
  }

  private void train(CodebookReport report, List<Table> wanted, Samples samples, String own) {
    VectorSample prose = samples.read(BundledText.filler(), "prose", tokens);
    VectorSample test = samples.read(BundledText.stream(), "other prose", testTokens());
    if (samples.interruption.isRequested()) {
      return;
    }
    if (wanted.contains(Table.STAGES)) {
      report.stages(
          prose, test, length(samples.loaded), samples.loaded.config().rotations().orElseThrow());
    }
    if (wanted.contains(Table.PAIRS)) {
      report.pairs(prose, test);
    }
    if (wanted.contains(Table.TEXTS)) {
      texts(report, samples, prose, test, own);
    }
    if (wanted.contains(Table.ENCODER)) {
      encoder(report, samples, prose);
    }
  }

  private int testTokens() {
    return Math.min(tokens, MAX_TEST_TOKENS);
  }

  private void texts(
      CodebookReport report,
      Samples samples,
      VectorSample prose,
      VectorSample otherProse,
      String own) {
    int headDim = prose.shape().headDim();
    int rounds = tokens / TOKENS_PER_ROUND + 1;
    String tasks = TaskText.of(seed, rounds);
    List<NamedSample> trained =
        List.of(
            new NamedSample("prose", prose),
            new NamedSample("tasks", samples.read(tasks, "tasks", tokens)),
            new NamedSample("prose and tasks", samples.mixed(BundledText.filler(), tasks, tokens)));
    List<NamedSample> tests = new ArrayList<>();
    tests.add(new NamedSample("prose", otherProse));
    String otherTasks = TaskText.of(seed + 1, testTokens() / TOKENS_PER_ROUND + 1);
    tests.add(new NamedSample("tasks", samples.read(otherTasks, "other tasks", testTokens())));
    if (!own.isEmpty()) {
      tests.add(new NamedSample("FILE", samples.read(own, text.toString(), testTokens())));
    }
    if (samples.interruption.isRequested()) {
      return;
    }
    report.texts(trained, tests, CommvqProfile.stages(bits, headDim));
  }

  private void encoder(CodebookReport report, Samples samples, VectorSample prose) {
    LoadedModel loaded = samples.loaded;
    int headDim = prose.shape().headDim();
    try (WorkerPool workers = new WorkerPool(load.options().threads());
        ProgressReporter progress =
            new ProgressReporter(streams, "reading blocks", samples.interruption)) {
      EncoderTrial trial =
          new EncoderTrial(
              loaded,
              layer(loaded),
              samples.chunks(BundledText.filler(), tokens),
              samples.chunks(BundledText.stream(), testTokens()),
              workers,
              seed,
              progress);
      if (!samples.interruption.isRequested()) {
        report.encoder(trial, prose, CommvqProfile.stages(bits, headDim), steps, progress);
      }
    }
  }

  /** Returns the tokens of a chunk, which starts at position zero. */
  private static int length(LoadedModel loaded) {
    return Math.min(LENGTH, loaded.config().contextLength());
  }

  /** Reads texts with the model. */
  private final class Samples {
    private final LoadedModel loaded;
    private final Interruption interruption;

    Samples(LoadedModel loaded, Interruption interruption) {
      this.loaded = loaded;
      this.interruption = interruption;
    }

    VectorSample read(String words, String name, int most) {
      return sample(ids(words, most), name);
    }

    /** Reads four parts of one text and one of another, roughly the mix of a calibration. */
    VectorSample mixed(String most, String some, int count) {
      int[] first = ids(most, count * 4 / 5);
      int[] second = ids(some, count - first.length);
      int[] all = IntStream.concat(Arrays.stream(first), Arrays.stream(second)).toArray();
      return sample(all, "prose and tasks");
    }

    List<int[]> chunks(String words, int most) {
      int[] all = ids(words, most);
      int length = length(loaded);
      List<int[]> cut = new ArrayList<>();
      for (int from = 0; from < all.length; from += length) {
        cut.add(Arrays.copyOfRange(all, from, Math.min(from + length, all.length)));
      }
      return cut;
    }

    private int[] ids(String words, int most) {
      return Arrays.stream(FirstTokens.of(loaded.tokenizer(), words, most)).limit(most).toArray();
    }

    private VectorSample sample(int[] ids, String name) {
      try (ProgressReporter progress =
          new ProgressReporter(streams, "reading " + name, interruption)) {
        return SamplePlan.readAll(
            loaded.config().cacheShape(),
            name,
            ids,
            length(loaded),
            new LocalRunner(WorkerContext.of(loaded)),
            progress);
      }
    }
  }
}
