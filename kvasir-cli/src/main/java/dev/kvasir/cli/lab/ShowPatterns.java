package dev.kvasir.cli.lab;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.arguments.LoadArguments;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.arguments.TextArgument;
import dev.kvasir.cli.origin.Origin;
import dev.kvasir.cli.terminal.Interruption;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.error.OptionValue;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.lab.inspect.PatternFit;
import dev.kvasir.lab.report.DistributionPlot;
import dev.kvasir.lab.report.MeasurementsFile;
import dev.kvasir.lab.text.BundledText;
import dev.kvasir.runtime.LoadedModel;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows how well patterns fit the keys and values of a model. */
@Command(
    name = "patterns",
    description = {
      "Show how well the patterns of patternkv fit a model.",
      "Reads a text, quantizes its keys and values, and prints for each layer how"
          + " many values have a pattern and how much of the ranges is left to quantize."
    },
    footer = {
      "  kvasir patterns",
      "  kvasir patterns --kv patternkv:2,rope=rotate --out patterns.svg",
      "  kvasir patterns --model model.gguf --text book.txt --context 8192"
    })
public final class ShowPatterns implements Callable<Integer> {
  private static final int MIN_TOKENS = 512;

  private final Streams streams;

  @Mixin private ModelArguments model;
  @Mixin private LoadArguments load;
  @Spec private CommandSpec command;

  @Option(
      names = "--kv",
      paramLabel = "SPEC",
      defaultValue = "patternkv:2",
      description = "patternkv with its keys. Default: ${DEFAULT-VALUE}.")
  private String cache;

  @Option(
      names = "--text",
      paramLabel = "FILE",
      description = "Text to read. Default: a bundled text.")
  private Path text;

  @Option(
      names = "--context",
      paramLabel = "N",
      defaultValue = "4096",
      description = "Tokens to read. Default: ${DEFAULT-VALUE}.")
  private int tokens;

  @Option(
      names = "--prefill",
      paramLabel = "WHEN",
      defaultValue = "exact",
      description =
          "When the text is quantized: exact, at its end, with patterns from all of it;"
              + " or chunked, while it is read, with patterns from its first page. Default:"
              + " ${DEFAULT-VALUE}.")
  private String prefill;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description = "Draw keys and values and their differences from patterns, as SVG.")
  private Path out;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Write the means over all layers to a JSON file.")
  private Path json;

  public ShowPatterns(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    CacheSpec spec = CacheSpec.parse(cache);
    OptionValue.atLeast("--context", tokens, MIN_TOKENS);
    Prefill when = OptionValue.oneOf("--prefill", prefill, Prefill.class);
    String words = text == null ? BundledText.stream() : TextArgument.readFile(text);
    if (out != null) {
      AtomicFile.checkWritable(out);
    }
    if (json != null) {
      AtomicFile.checkWritable(json);
    }
    try (LoadedModel loaded = model.load(load.options(), streams);
        Interruption interruption = Interruption.install()) {
      int most = Math.min(tokens, loaded.config().contextLength());
      Optional<PatternFit> fit;
      try (ProgressReporter progress = new ProgressReporter(streams, "reading", interruption)) {
        fit = PatternFit.measure(loaded, spec, when, words, most, progress);
      }
      fit.ifPresent(this::show);
      return fit.isPresent() ? 0 : Interruption.EXIT_CODE;
    }
  }

  private void show(PatternFit fit) {
    streams.out().println("%s, %s quantized".formatted(cache, Units.tokens(fit.tokens())));
    streams.out().println("layer  values with a pattern  range left: of key channels  of values");
    for (int layer = 0; layer < fit.layers().size(); layer++) {
      PatternFit.Layer line = fit.layers().get(layer);
      streams
          .out()
          .println(
              String.format(
                  Locale.ROOT,
                  "%5d %21.1f%% %27.1f%% %9.1f%%",
                  layer,
                  100 * line.valuesWithPattern(),
                  100 * line.keyRange(),
                  100 * line.valueRange()));
    }
    streams.out().flush();
    if (out != null) {
      new DistributionPlot(fit).write(out);
    }
    if (json != null) {
      Map<String, Double> numbers = new HashMap<>();
      fit.means().forEach((name, mean) -> MeasurementsFile.put(numbers, name, mean));
      MeasurementsFile.write(json, numbers, Origin.of(command));
    }
  }
}
