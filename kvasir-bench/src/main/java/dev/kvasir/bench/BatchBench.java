package dev.kvasir.bench;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cli.origin.Origin;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.engine.Batch;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.OptionValue;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.lab.eval.Estimate;
import dev.kvasir.lab.report.MeasurementsFile;
import dev.kvasir.runtime.LoadedModel;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Measures the throughput that a fixed amount of cache memory allows, by kind of cache. */
@Command(
    name = "batch",
    description = {
      "Measure how many sequences fit in a memory, and how fast they generate together.",
      "Each sequence has random vectors of its own for a past, which cost what real ones cost; all of"
          + " them take a token in every step. Kinds take turns, and medians are shown with their"
          + " ratio to the first kind."
    },
    footer = {
      "  kvasir bench batch --context 4096 --sequences 4 --kv \"fp16;kivi:2;commvq:1\"",
      "  kvasir bench batch --json batch.json"
    })
final class BatchBench implements Callable<Integer> {
  private final PrintStream out;
  private final PrintStream err;

  @Spec private CommandSpec command;

  @Mixin private BenchModelArguments model;

  @Option(
      names = "--context",
      defaultValue = "4096",
      paramLabel = "N",
      description = "Tokens that each sequence holds (default: ${DEFAULT-VALUE}).")
  private int context;

  @Option(
      names = "--sequences",
      defaultValue = "4",
      paramLabel = "N",
      description = {
        "The memory: what so many sequences of the first kind take (default: ${DEFAULT-VALUE})."
      })
  private int sequences;

  @Option(
      names = "--kv",
      defaultValue = "fp16;kivi:4;kivi:2;patternkv:2;mixkvq;pmkvq:2;commvq:1",
      paramLabel = "SPECS",
      description =
          "Kinds of cache, separated by commas or semicolons (default: ${DEFAULT-VALUE}).")
  private String kinds;

  @Option(
      names = "--tokens",
      defaultValue = "128",
      paramLabel = "N",
      description = {
        "Tokens of a turn (default: ${DEFAULT-VALUE}: a page, so that every method packs one, as it",
        "  does in a long run)."
      })
  private int tokens;

  @Option(
      names = "--rounds",
      defaultValue = "3",
      paramLabel = "N",
      description =
          "Turns of each kind, after one that does not count (default: ${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Write the ratios to a file, by the kind of cache.")
  private Path json;

  BatchBench(PrintStream out, PrintStream err) {
    this.out = out;
    this.err = err;
  }

  /** All sequences of one kind. */
  private record Sequences(CacheSpec spec, List<KvCache> caches) {
    long bytes() {
      return caches.stream().mapToLong(cache -> cache.bytes().total()).sum();
    }

    void close() {
      caches.forEach(KvCache::close);
    }
  }

  /**
   * @param speeds tokens per second, by round
   */
  private record BatchResult(CacheSpec spec, int sequences, long bytes, double[] speeds) {
    double tokensPerSecond() {
      return Race.median(speeds);
    }

    /** Returns the median of the ratios of rounds, from their least to their greatest. */
    Estimate ratio(BatchResult reference) {
      double[] ratios =
          IntStream.range(0, speeds.length)
              .mapToDouble(round -> speeds[round] / reference.speeds[round])
              .toArray();
      return Race.spread(ratios);
    }
  }

  @Override
  public Integer call() {
    List<CacheSpec> specs = DecodeBench.specs(kinds);
    OptionValue.atLeastOne("--sequences", sequences);
    OptionValue.atLeastOne("--tokens", tokens);
    OptionValue.atLeastOne("--rounds", rounds);
    model.check();
    if (json != null) {
      AtomicFile.checkWritable(json);
    }
    try (LoadedModel loaded = model.load()) {
      checkContext(loaded);
      List<BatchResult> kinds = measure(loaded, specs);
      model.describe(out, loaded);
      show(kinds);
    }
    return 0;
  }

  private void checkContext(LoadedModel loaded) {
    int most = loaded.config().contextLength() - tokens;
    if (context < 1 || context > most) {
      throw new InvalidInputException(
          "--context is %d; expected 1 to %d, so that %d tokens fit after it"
              .formatted(context, most, tokens));
    }
  }

  /** Measures all kinds and closes their caches. */
  private List<BatchResult> measure(LoadedModel loaded, List<CacheSpec> specs) {
    List<Sequences> filled = new ArrayList<>();
    try {
      long memory = 0;
      for (CacheSpec spec : specs) {
        filled.add(fill(loaded, spec, memory));
        memory = filled.getFirst().bytes();
      }
      double[][] speeds = new double[filled.size()][rounds];
      for (int round = -1; round < rounds; round++) {
        for (int i = 0; i < filled.size(); i++) {
          List<KvCache> caches = filled.get(i).caches();
          // The first round warms up; the next one overwrites its result.
          speeds[i][Math.max(0, round)] = caches.size() * tokens * 1e9 / generate(loaded, caches);
        }
        err.printf("turn %d of %d%n", round + 1, rounds);
      }
      List<BatchResult> kinds = new ArrayList<>();
      for (Sequences one : filled) {
        double[] own = speeds[kinds.size()];
        kinds.add(new BatchResult(one.spec(), one.caches().size(), one.bytes(), own));
      }
      return kinds;
    } finally {
      filled.forEach(Sequences::close);
    }
  }

  /**
   * Creates as many sequences as fit, judging by the size of the first.
   *
   * @param memory 0 for the reference kind
   */
  private Sequences fill(LoadedModel loaded, CacheSpec spec, long memory) {
    List<KvCache> caches = new ArrayList<>();
    Sequences kind = new Sequences(spec, caches);
    try {
      caches.add(filledCache(loaded, spec));
      long each = kind.bytes();
      long count = memory == 0 ? sequences : memory / each;
      if (count == 0) {
        throw new InvalidInputException(
            "a sequence of '%s' takes %d bytes; the memory has %d".formatted(spec, each, memory));
      }
      while (caches.size() < count) {
        caches.add(filledCache(loaded, spec));
        err.printf("%s: %d of %d sequences%n", spec, caches.size(), count);
      }
      return kind;
    } catch (RuntimeException e) {
      kind.close();
      throw e;
    }
  }

  private KvCache filledCache(LoadedModel loaded, CacheSpec spec) {
    KvCache cache = loaded.newCache(spec, context + tokens);
    return RandomKv.fill(
        cache, loaded.config().cacheShape(), loaded.config().queryHeads(), context);
  }

  private long generate(LoadedModel loaded, List<KvCache> filled) {
    Batch batch = new Batch();
    List<KvCache> caches = filled.stream().map(KvCache::fork).toList();
    try {
      long start = System.nanoTime();
      for (int i = 0; i < tokens; i++) {
        int token = i;
        batch.clear();
        caches.forEach(cache -> batch.add(cache, token, true));
        loaded.forward(batch);
      }
      return System.nanoTime() - start;
    } finally {
      caches.forEach(KvCache::close);
    }
  }

  private void show(List<BatchResult> kinds) {
    BatchResult first = kinds.getFirst();
    out.printf(
        "%s of memory, sequences of %s%n", Units.bytes(first.bytes()), Units.tokens(context));
    out.printf(
        "%-24s %10s %8s %12s %8s %14s%n",
        "cache", "sequences", "ratio", "tokens/s", "ratio", "KV bytes");
    Map<String, Double> ratios = new LinkedHashMap<>();
    for (BatchResult kind : kinds) {
      double more = (double) kind.sequences() / first.sequences();
      Estimate faster = kind.ratio(first);
      MeasurementsFile.put(ratios, kind.spec().text(), faster);
      ratios.put(kind.spec().text() + " sequences", more);
      out.printf(
          Locale.ROOT,
          "%-24s %10d %8.2f %12.0f %8.2f %,14d%n",
          kind.spec(),
          kind.sequences(),
          more,
          kind.tokensPerSecond(),
          faster.value(),
          kind.bytes());
    }
    if (json != null) {
      MeasurementsFile.write(json, ratios, Origin.of(command));
    }
  }
}
