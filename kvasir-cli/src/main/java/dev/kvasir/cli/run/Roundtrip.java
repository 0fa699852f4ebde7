package dev.kvasir.cli.run;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.arguments.MethodHelp;
import dev.kvasir.cli.terminal.FactSheet;
import dev.kvasir.cli.terminal.Interruption;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.OptionValue;
import dev.kvasir.lab.roundtrip.Dump;
import dev.kvasir.lab.roundtrip.DumpFiles;
import dev.kvasir.lab.roundtrip.OutputFolder;
import dev.kvasir.lab.roundtrip.RoundTrip;
import dev.kvasir.lab.roundtrip.RoundTripOptions;
import dev.kvasir.lab.roundtrip.RoundTripResult;
import dev.kvasir.model.RopeLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Sends the vectors of any model through a cache and back. */
@Command(
    name = "roundtrip",
    description = {
      "Pass keys and values of any model through a cache, and measure the error.",
      "Arrays are 32-bit floats of one layer as numpy.save writes them, rotated to"
          + " their positions. The output folder gets keys.npy and values.npy as the cache"
          + " holds them and, with --queries, the attention output in output.npy."
    },
    footer = {
      "  kvasir roundtrip --kv kivi:2 --keys k.npy --values v.npy --out back",
      "  kvasir roundtrip --kv kivi:4,group=32 --keys k.npy --values v.npy \\",
      "      --queries q.npy --prefill 1000 --out back --json"
    })
public final class Roundtrip implements Callable<Integer> {
  private final Streams streams;

  @Option(names = "--kv", paramLabel = "SPEC", required = true, description = MethodHelp.SPEC)
  private String cache;

  @Option(
      names = "--keys",
      paramLabel = "FILE",
      required = true,
      description = "Keys, an array of KV heads x tokens x channels.")
  private Path keys;

  @Option(
      names = "--values",
      paramLabel = "FILE",
      required = true,
      description = "Values, an array of the same shape.")
  private Path values;

  @Option(
      names = "--queries",
      paramLabel = "FILE",
      description =
          "Queries of the last tokens, an array of query heads x tokens x channels."
              + " Without them, attention is not computed.")
  private Path queries;

  @Option(
      names = "--attend",
      paramLabel = "N",
      defaultValue = "64",
      description = "Number of last queries that attend. Default: ${DEFAULT-VALUE}.")
  private int attend;

  @Option(
      names = "--prefill",
      paramLabel = "N",
      defaultValue = "0",
      description =
          "Number of tokens that arrive in one step, like a prompt; the others arrive one"
              + " by one. Default: ${DEFAULT-VALUE}.")
  private int prefill;

  @Option(
      names = "--rope-theta",
      paramLabel = "T",
      description = "Base of the model's RoPE, for methods that rotate keys back.")
  private Double ropeTheta;

  @Option(
      names = "--rope",
      paramLabel = "LAYOUT",
      defaultValue = "half",
      description =
          "Which channels are rotated together: half, as in Hugging Face models, or"
              + " interleaved. Default: ${DEFAULT-VALUE}.")
  private String rope;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      required = true,
      description = "Folder for the dequantized arrays.")
  private Path out;

  @Option(names = "--json", description = "Print the figures as one JSON object.")
  private boolean json;

  public Roundtrip(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    RoundTripOptions options = OptionValue.check(this::options);
    try (DumpFiles files = DumpFiles.open(keys, values, Optional.ofNullable(queries))) {
      OutputFolder folder = OutputFolder.of(out, inputs());
      Optional<RoundTripResult> result = run(files.dump(), options, folder);
      result.ifPresent(found -> print(files.dump(), options, found));
      return result.isPresent() ? 0 : Interruption.EXIT_CODE;
    }
  }

  private RoundTripOptions options() {
    return new RoundTripOptions(
        CacheSpec.parse(cache),
        prefill,
        attend,
        ropeTheta == null ? OptionalDouble.empty() : OptionalDouble.of(ropeTheta),
        layout());
  }

  private RopeLayout layout() {
    return switch (rope) {
      case "half" -> RopeLayout.HALVES;
      case "interleaved" -> RopeLayout.INTERLEAVED;
      default ->
          throw new InvalidInputException(
              "--rope is '%s'; expected half or interleaved".formatted(rope));
    };
  }

  private List<Path> inputs() {
    return Stream.of(Optional.of(keys), Optional.of(values), Optional.ofNullable(queries))
        .flatMap(Optional::stream)
        .toList();
  }

  /** Runs the round trip; empty if interrupted. */
  private Optional<RoundTripResult> run(Dump dump, RoundTripOptions options, OutputFolder folder) {
    // The process exits as soon as the interruption is closed, so print before that.
    try (Interruption interruption = Interruption.install()) {
      try (RoundTripProgress progress = new RoundTripProgress(streams, interruption::isRequested)) {
        return Optional.of(RoundTrip.run(dump, options, folder, progress));
      } catch (CancellationException e) {
        streams.note("interrupted; nothing was written");
        return Optional.empty();
      }
    }
  }

  private void print(Dump dump, RoundTripOptions options, RoundTripResult result) {
    if (json) {
      streams.out().println(RoundTripFigures.json(result));
    } else {
      FactSheet sheet = new FactSheet(streams.out(), streams.outHasColours());
      RoundTripFigures.describe(dump, options, result, sheet);
    }
    streams.out().flush();
  }
}
