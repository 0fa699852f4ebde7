package dev.kvasir.cli.run;

import dev.kvasir.cache.CacheBytes;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.choice.CacheChoice;
import dev.kvasir.cli.arguments.AutoCache;
import dev.kvasir.cli.arguments.LoadArguments;
import dev.kvasir.cli.arguments.MethodHelp;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.arguments.ModelOutline;
import dev.kvasir.cli.terminal.FactSheet;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.PageCodec.SizeAccuracy;
import dev.kvasir.codec.mead.MeadCheck;
import dev.kvasir.codec.mead.MeadMethod;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.OptionValue;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.SafetensorsFolder;
import dev.kvasir.format.TensorSource;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.lab.report.BitsPlot;
import dev.kvasir.lab.report.GrowthPlot;
import dev.kvasir.memory.ByteCount;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.TensorPlan;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.LoadedEncoder;
import dev.kvasir.text.Tokenizer;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows the structure of a model and its memory. */
@Command(
    name = "inspect",
    description = "Show the architecture of a model and the memory that it takes.",
    footer = {
      "  kvasir inspect",
      "  kvasir inspect --model model.gguf --context 32768",
      "  kvasir inspect --model folder --tensors",
      "  kvasir inspect --model folder --kv kivi:2 --context 16384",
      "  kvasir inspect --kv pmkvq:2,budget=6MiB --context 8000 --plot growth.svg",
      "  kvasir inspect --kv mead:1.5 --plot-bits bits.svg",
      "  kvasir inspect --kv auto --context 16384 --kv-memory 16MiB",
      "  kvasir inspect --kernels"
    })
public final class Inspect implements Callable<Integer> {
  /** Bits per value are shown only for longer contexts; in a short one blocks are mostly empty. */
  private static final int SAMPLE_TOKENS = 1_000;

  private final Streams streams;

  @Option(names = "--tensors", description = "List all tensors.")
  private boolean tensors;

  @Option(names = "--kernels", description = "Show which kernels this machine uses, and why.")
  private boolean kernels;

  @Option(
      names = "--context",
      paramLabel = "N",
      description = "Show the memory of a context of N tokens. Default: the model's context.")
  private Integer context;

  @Option(
      names = "--kv",
      paramLabel = "SPEC",
      defaultValue = "fp16",
      description = MethodHelp.SPEC_OR_AUTO + " Default: ${DEFAULT-VALUE}.")
  private String cache;

  @Option(
      names = "--kv-memory",
      paramLabel = "SIZE",
      description =
          "With --kv auto: the memory to choose for, as in 512MiB. Default: half of the"
              + " memory that the weights leave.")
  private String memory;

  @Option(
      names = "--profile",
      paramLabel = "FILE",
      description =
          "Calibration profile of the model; some caches take their bit widths from it."
              + " Default: the profile that the model is loaded with.")
  private Path profile;

  @Option(
      names = "--plot",
      paramLabel = "FILE",
      description = "Draw how the KV cache grows with the text, as SVG.")
  private Path plot;

  @Option(
      names = "--plot-bits",
      paramLabel = "FILE",
      description = "Draw how mead distributes its bits over layers and heads, as SVG.")
  private Path bitsPlot;

  @Mixin private ModelArguments model;

  public Inspect(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    if (context != null) {
      OptionValue.atLeastOne("--context", context);
    }
    Optional<CacheChoice> choice = choice();
    CacheSpec spec = choice.map(CacheChoice::spec).orElseGet(() -> CacheSpec.parse(cache));
    if (plot != null) {
      AtomicFile.checkWritable(plot);
    }
    if (bitsPlot != null) {
      requireMead(spec);
      AtomicFile.checkWritable(bitsPlot);
    }
    FactSheet sheet = new FactSheet(streams.out(), streams.outHasColours());
    if (!model.isBundled() && LoadedEncoder.isAt(model.path())) {
      EncoderFacts.describe(model.path(), tensors, sheet);
    } else if (model.isFolder()) {
      describeFolder(spec, sheet);
    } else {
      describeGguf(spec, sheet);
    }
    choice.ifPresent(made -> ChoiceTable.print(made, streams.out(), sheet));
    if (kernels) {
      describeKernels(sheet);
    }
    streams.out().flush();
    return 0;
  }

  /** Returns the choice of {@code --kv auto}; empty with another cache. */
  private Optional<CacheChoice> choice() {
    if (!AutoCache.isAuto(cache)) {
      if (memory != null) {
        throw new InvalidInputException(
            "--kv-memory is for --kv auto; --kv is '%s'".formatted(cache));
      }
      return Optional.empty();
    }
    OptionalLong bytes =
        memory == null
            ? OptionalLong.empty()
            : OptionalLong.of(ByteCount.parse("--kv-memory", memory));
    ModelOutline outline = model.outline(new LoadArguments());
    int tokens = context == null ? outline.config().contextLength() : context;
    return Optional.of(
        new AutoCache(outline, model.profile(profile), any -> true, OptionalLong::empty)
            .choose(tokens, bytes, 0));
  }

  private static void requireMead(CacheSpec spec) {
    if (!(spec.method() instanceof MeadMethod)) {
      throw new InvalidInputException(
          "--plot-bits is for mead, as in mead:1.5; --kv is '%s'".formatted(spec));
    }
  }

  private void describeFolder(CacheSpec spec, FactSheet sheet) {
    if (model.isConfigOnly()) {
      describeConfig(spec, sheet);
      return;
    }
    try (Tokenizer tokenizer = model.tokenizer();
        SafetensorsFolder folder = SafetensorsFolder.open(model.path())) {
      ModelConfig config = ModelConfig.of(model.path());
      TensorPlan plan = TensorPlan.of(config, folder);
      describe(config, folder, plan, tokenizer, spec, sheet);
    }
  }

  /** Describes a model whose weights have not been downloaded. */
  private void describeConfig(CacheSpec spec, FactSheet sheet) {
    ModelConfig config = ModelConfig.of(model.path());
    ModelFacts.describe(config, sheet);
    sheet.line("weights", "none in the folder; what they would take is not told");
    describeCache(config, spec, sheet);
  }

  private void describeGguf(CacheSpec spec, FactSheet sheet) {
    try (GgufFile file = model.openGguf();
        Tokenizer tokenizer = Tokenizer.ofGguf(file.name(), file.metadata())) {
      if (file.tensors().isEmpty()) {
        describeVocabulary(file, tokenizer, sheet);
        return;
      }
      ModelConfig config = ModelConfig.of(file);
      TensorPlan plan = TensorPlan.of(config, file);
      describe(config, file, plan, tokenizer, spec, sheet);
    }
  }

  private void describe(
      ModelConfig config,
      TensorSource file,
      TensorPlan plan,
      Tokenizer tokenizer,
      CacheSpec spec,
      FactSheet sheet) {
    long loadedBytes = plan.loadedBytes();
    ModelFacts.describe(config, sheet);
    ModelFacts.describe(tokenizer, sheet);
    TensorList list = new TensorList(file.tensors());
    long values = list.values() + plan.mxfp4Values();
    long bytes = list.bytes() + GgmlType.MXFP4.bytesFor(plan.mxfp4Values());
    sheet.line(
        "weights",
        "%s values, %s in the file, %s when loaded"
            .formatted(Units.count(values), Units.bytes(bytes), Units.bytes(loadedBytes)));
    config
        .experts()
        .map(
            experts ->
                values - experts.inactiveWeights(config.hidden(), config.feedForwardLayers()))
        .ifPresent(active -> sheet.line("active", Units.count(active) + " values a token"));
    if (tensors) {
      list.describeEach(sheet);
    } else {
      list.describeTypes(sheet);
    }
    describeCache(config, spec, sheet);
  }

  private void describeCache(ModelConfig config, CacheSpec spec, FactSheet sheet) {
    int tokens = context == null ? config.contextLength() : context;
    // Some kinds of cache need their tables to compute sizes.
    try (ModelTables tables = new ModelTables()) {
      CacheContext context =
          CacheContext.unknown()
              .withQueryHeads(config.queryHeads())
              .withRotations(config.rotations())
              .withContextLimit(tokens)
              .withProfile(model.profile(profile))
              .withTables(Optional.of(tables));
      describeCache(config.cacheShape(), context, tokens, spec, sheet);
    }
  }

  private void describeCache(
      CacheShape shape, CacheContext context, int tokens, CacheSpec spec, FactSheet sheet) {
    CacheBytes bytes = spec.bytesFor(shape, context, tokens);
    sheet.line(
        "KV cache",
        "%s: %s%s"
            .formatted(
                spec.resolve(context),
                certainty(spec.sizes(shape, context)),
                tokens <= SAMPLE_TOKENS
                    ? size(bytes, tokens)
                    : "%s, %s, %s"
                        .formatted(
                            size(spec.bytesFor(shape, context, SAMPLE_TOKENS), SAMPLE_TOKENS),
                            size(bytes, tokens),
                            Units.bitsPerValue(
                                8.0 * bytes.keysAndValues() / shape.valuesInWindows(tokens)))));
    if (bytes.codes() > 0) {
      sheet.line(
          "  in bytes",
          "%s codes, %s scales, %s window, %s sinks"
              .formatted(
                  Units.count(bytes.codes()),
                  Units.count(bytes.scales()),
                  Units.count(bytes.window()),
                  Units.count(bytes.sinks())));
    }
    if (bytes.states() > 0) {
      sheet.line(
          "  of these", "at most %s of recurrent states".formatted(Units.bytes(bytes.states())));
    }
    long shared = spec.sharedBytes(shape, context);
    if (shared > 0) {
      double values = shape.valuesInWindows(tokens);
      sheet.line(
          "  beside it",
          "%s of tables, once for all sequences; with them %s for one sequence, %s for 4, %s for 16"
              .formatted(
                  Units.bytes(shared),
                  Units.bitsPerValue(8.0 * (bytes.total() + shared) / values),
                  bits(8.0 * (bytes.total() + shared / 4.0) / values),
                  bits(8.0 * (bytes.total() + shared / 16.0) / values)));
    }
    context.profile().ifPresent(held -> describeProfile(held, spec, sheet));
    if (plot != null) {
      new GrowthPlot(spec, shape, context).write(plot);
    }
    if (bitsPlot != null) {
      BitsPlot.of(spec, shape, context).write(bitsPlot);
    }
  }

  /** Describes what the parts that the cache uses were made of. */
  private static void describeProfile(Profile held, CacheSpec spec, FactSheet sheet) {
    List<String> parts = spec.config().profileParts().stream().filter(held::has).sorted().toList();
    if (!parts.isEmpty()) {
      sheet.line("profile", "%s: %s".formatted(held.name(), String.join(", ", parts)));
    }
    for (String part : parts) {
      held.note(Profile.originNote(part))
          .ifPresent(text -> sheet.line("  made of", "%s: %s".formatted(part, text)));
      held.note(Profile.checkNote(part))
          .ifPresent(
              text -> sheet.line("  checked", "%s: %s".formatted(part, MeadCheck.shown(text))));
    }
  }

  private static String size(CacheBytes bytes, int tokens) {
    return "%s for %s".formatted(Units.bytes(bytes.total()), Units.tokens(tokens));
  }

  private static String bits(double bits) {
    return String.format(Locale.ROOT, "%.2f", bits);
  }

  /** Returns a qualifier, because some kinds of cache have sizes that depend on the data. */
  private static String certainty(SizeAccuracy sizes) {
    return switch (sizes) {
      case EXACT -> "";
      case TYPICAL -> "about ";
      case AT_MOST -> "at most ";
    };
  }

  private static void describeVocabulary(GgufFile file, Tokenizer tokenizer, FactSheet sheet) {
    sheet.line("model", file.name());
    ModelFacts.describe(file.metadata(), sheet);
    ModelFacts.describe(tokenizer, sheet);
    sheet.line("weights", "none; the file holds a vocabulary only");
  }

  private static void describeKernels(FactSheet sheet) {
    KernelChoice choice = KernelChoice.ofThisProcess();
    sheet.line("kernels", "%s; %s".formatted(choice.kernels().name(), choice.reason()));
    sheet.line(
        "processors",
        "%d, %s, %s"
            .formatted(
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("os.name"),
                System.getProperty("os.arch")));
    sheet.line("Java", "%s, %s".formatted(Runtime.version(), System.getProperty("java.vm.name")));
  }
}
