package dev.kvasir.bench;

import dev.kvasir.attention.Attention;
import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cli.origin.Origin;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.ValueOrigin;
import dev.kvasir.codec.commvq.CommvqShape;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.OptionValue;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.report.MeasurementsFile;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.profile.Profile;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.function.LongSupplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Measures the attention of one generated token in one layer, by kind of cache. */
@Command(
    name = "attention",
    description = {
      "Measure the attention of one generated token in one layer.",
      "Random vectors; kinds of cache take turns in one run. Shown are medians, and how many times"
          + " faster than the first kind each is. A packed kind is measured with exact and with"
          + " fast sums."
    },
    footer = {
      "  kvasir bench attention --tokens 8192 --head-dim 128 --kv-heads 8"
          + " --kv fp16,bf16,kivi:4,kivi:2 --threads 1,2"
    })
final class AttentionBench implements Callable<Integer> {
  private static final double ROPE_BASE = 10_000;

  /** Long enough for the kernels to be compiled. */
  private static final long WARM_UP_NANOS = 15_000_000_000L;

  /** Long enough for a precise measurement. */
  private static final long MEASURE_NANOS = 30_000_000L;

  private final PrintStream out;
  private final PrintStream err;
  private Kernels kernels; // set when the command runs; other commands may select others
  private LongSupplier clock; // nanoseconds
  private boolean warm;
  private Profile randomProfile; // created with the first cache
  private final Map<String, Double> figures = new LinkedHashMap<>(); // ns per token and head

  @Spec private CommandSpec command;

  @Option(
      names = "--tokens",
      defaultValue = "8192,32768",
      split = ",",
      paramLabel = "N",
      description = "Tokens that the cache holds (default: ${DEFAULT-VALUE}).")
  private int[] tokens;

  @Option(
      names = "--head-dim",
      defaultValue = "128",
      paramLabel = "N",
      description = "Channels of a head (default: ${DEFAULT-VALUE}).")
  private int headDim;

  @Option(
      names = "--rotary",
      defaultValue = "0",
      paramLabel = "N",
      description =
          "Rotary channels of a key behind a latent of --head-dim, which is the value too"
              + " (default: ${DEFAULT-VALUE}, keys and values of heads).")
  private int rotary;

  @Option(
      names = "--kv-heads",
      defaultValue = "8",
      paramLabel = "N",
      description = "KV heads (default: ${DEFAULT-VALUE}).")
  private int kvHeads;

  @Option(
      names = "--query-heads",
      defaultValue = "32",
      paramLabel = "N",
      description = "Query heads, a multiple of the KV heads (default: ${DEFAULT-VALUE}).")
  private int queryHeads;

  @Option(
      names = "--kv",
      defaultValue = "fp16,bf16,kivi:4,kivi:2",
      paramLabel = "SPECS",
      description =
          "Kinds of cache, separated by commas or semicolons (default: ${DEFAULT-VALUE}).")
  private String typedSpecs;

  @Option(
      names = "--threads",
      defaultValue = "1,2",
      split = ",",
      paramLabel = "N",
      description = "Numbers of threads (default: ${DEFAULT-VALUE}).")
  private int[] threads;

  @Option(
      names = "--value-heads",
      defaultValue = "0",
      paramLabel = "N",
      description =
          "KV heads whose values share codes of commvq; 1 codes values by head (default: as"
              + " calibrate does).")
  private int valueHeads;

  @Option(
      names = "--cpu-time",
      description = "Measure CPU time of all threads instead of elapsed time: for a busy machine.")
  private boolean measuresCpu;

  @Option(
      names = "--rounds",
      defaultValue = "11",
      paramLabel = "N",
      description = "Turns of each kind (default: ${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Write nanoseconds a token and query head to a file.")
  private Path json;

  AttentionBench(PrintStream out, PrintStream err) {
    this.out = out;
    this.err = err;
  }

  @Override
  public Integer call() {
    kernels = KernelChoice.ofThisProcess().kernels();
    clock = measuresCpu ? CpuTime::nanos : System::nanoTime;
    List<CacheSpec> specs = bothPrecisions(DecodeBench.specs(typedSpecs));
    check();
    try (ModelTables tables = new ModelTables()) {
      for (int count : tokens) {
        specs.forEach(spec -> checkOpens(spec, count, tables));
      }
    }
    out.printf(
        Locale.ROOT,
        "%d query heads on %d KV heads of %d%s channels, %s, Java %s, %s%n",
        queryHeads,
        kvHeads,
        headDim,
        rotary == 0 ? "" : "+" + rotary,
        kernels.name(),
        Runtime.version(),
        System.getProperty("os.arch"));
    out.printf(
        "%8s %7s  %-26s %9s %12s %6s %14s%n",
        "tokens", "threads", "cache", "ms", "ns/tok/head", "ratio", "KV bytes");
    for (int count : tokens) {
      measure(specs, count);
    }
    if (json != null) {
      MeasurementsFile.write(json, figures, Origin.of(command));
    }
    return 0;
  }

  private void check() {
    OptionValue.atLeastOne("--head-dim", headDim);
    OptionValue.atLeastOne("--kv-heads", kvHeads);
    OptionValue.atLeastOne("--rounds", rounds);
    if (valueHeads < 0 || valueHeads > 0 && kvHeads % valueHeads != 0) {
      throw new InvalidInputException(
          "--value-heads is %d; expected a divisor of the %d KV heads"
              .formatted(valueHeads, kvHeads));
    }
    if (rotary < 0) {
      throw new InvalidInputException("--rotary is %d; expected 0 or more".formatted(rotary));
    }
    if (json != null) {
      AtomicFile.checkWritable(json);
    }
    for (int count : tokens) {
      OptionValue.atLeastOne("--tokens", count);
    }
    for (int count : threads) {
      OptionValue.atLeastOne("--threads", count);
    }
    if (queryHeads < 1 || queryHeads % kvHeads != 0) {
      throw new InvalidInputException(
          "--query-heads is %d; expected a multiple of the %d KV heads"
              .formatted(queryHeads, kvHeads));
    }
  }

  /**
   * Checks, before any measurement, that the cache has the profile parts and the capacity it needs.
   */
  private void checkOpens(CacheSpec spec, int count, ModelTables tables) {
    CacheShape shape = cacheShape();
    try (KvCache empty = spec.newCache(shape, host(shape, count, tables))) {
      if (empty.capacity() < count) {
        throw new InvalidInputException(
            "the cache '%s' holds %d tokens at the most; --tokens is %d"
                .formatted(spec, empty.capacity(), count));
      }
    }
  }

  /** Expands a quantized spec without {@code operands=} to both operand precisions. */
  static List<CacheSpec> bothPrecisions(List<CacheSpec> specs) {
    List<CacheSpec> both = new ArrayList<>();
    for (CacheSpec spec : specs) {
      if (spec.hasOperandPrecision()
          && !spec.text().contains("operands=")
          && !spec.text().contains("lookup=")) {
        both.add(CacheSpec.parse(spec.text() + ",operands=15"));
        both.add(CacheSpec.parse(spec.text() + ",operands=8"));
      } else {
        both.add(spec);
      }
    }
    return both;
  }

  private void measure(List<CacheSpec> specs, int count) {
    List<KvCache> caches = new ArrayList<>();
    try (ModelTables tables = new ModelTables()) {
      for (CacheSpec spec : specs) {
        err.printf("filling %s with %d tokens%n", spec, count);
        caches.add(filled(spec, count, tables));
      }
      for (int threadCount : threads) {
        try (WorkerPool workers = new WorkerPool(threadCount)) {
          double[][] nanos = race(caches, workers, count);
          print(specs, caches, nanos, count, threadCount);
        }
      }
    } finally {
      caches.forEach(KvCache::close);
    }
  }

  /** Returns the nanoseconds of one call. // (specs, rounds) */
  private double[][] race(List<KvCache> caches, WorkerPool workers, int count) {
    int keyDim = headDim + rotary;
    AttentionShape shape = new AttentionShape(queryHeads, kvHeads, keyDim, headDim);
    Attention attention = new Attention(shape, kernels, workers);
    float[] queries = new float[queryHeads * keyDim];
    SplittableRandom random = new SplittableRandom(2);
    for (int i = 0; i < queries.length; i++) {
      queries[i] = (float) random.nextDouble(-1.5, 1.5);
    }
    float[] output = new float[queryHeads * headDim];
    if (!warm) {
      warmUp(attention, caches, count, queries, output);
      warm = true;
    }
    double[][] nanos = new double[caches.size()][rounds];
    for (int round = -1; round < rounds; round++) {
      for (int i = 0; i < caches.size(); i++) {
        double callNanos = measureCall(attention, caches.get(i), count, queries, output);
        if (round >= 0) {
          nanos[i][round] = callNanos;
        }
      }
    }
    return nanos;
  }

  private void warmUp(
      Attention attention, List<KvCache> caches, int count, float[] queries, float[] output) {
    err.println("warming up");
    long start = System.nanoTime();
    do {
      for (KvCache cache : caches) {
        attendOnce(attention, cache, count, queries, output);
      }
    } while (System.nanoTime() - start < WARM_UP_NANOS);
  }

  private double measureCall(
      Attention attention, KvCache cache, int count, float[] queries, float[] output) {
    long start = clock.getAsLong();
    int calls = 0;
    long nanos;
    do {
      attendOnce(attention, cache, count, queries, output);
      calls++;
      nanos = clock.getAsLong() - start;
    } while (nanos < MEASURE_NANOS);
    return nanos / (double) calls;
  }

  private static void attendOnce(
      Attention attention, KvCache cache, int count, float[] queries, float[] output) {
    attention.begin();
    attention.add(cache, 0, 1, count - 1);
    attention.attend(0, Integer.MAX_VALUE, queries, output);
  }

  private void print(
      List<CacheSpec> specs, List<KvCache> caches, double[][] nanos, int count, int threadCount) {
    double first = Race.median(nanos[0]);
    for (int i = 0; i < specs.size(); i++) {
      double median = Race.median(nanos[i]);
      MeasurementsFile.put(
          figures,
          "%s, %d tokens, %d threads".formatted(specs.get(i).text(), count, threadCount),
          Race.spread(Arrays.stream(nanos[i]).map(one -> one / count / queryHeads).toArray()));
      out.printf(
          Locale.ROOT,
          "%8d %7d  %-26s %9.3f %12.1f %6.2f %,14d%n",
          count,
          threadCount,
          specs.get(i),
          median / 1e6,
          median / count / queryHeads,
          first / median,
          caches.get(i).bytes().total());
    }
    out.flush();
  }

  private CacheShape cacheShape() {
    ValueOrigin values = rotary == 0 ? ValueOrigin.STORED : ValueOrigin.IN_KEYS;
    return new CacheShape(1, kvHeads, headDim + rotary, headDim, values);
  }

  private KvCache filled(CacheSpec spec, int count, ModelTables tables) {
    CacheShape shape = cacheShape();
    KvCache empty = spec.newCache(shape, host(shape, count, tables));
    return RandomKv.fill(empty, shape, queryHeads, count);
  }

  private CacheContext host(CacheShape shape, int count, ModelTables tables) {
    Rope rope = new Rope(RopeLayout.HALVES, RopeFrequencies.unscaled(ROPE_BASE, headDim));
    return CacheContext.unknown()
        .withRotation(Optional.of(rope))
        .withQueryHeads(queryHeads)
        .withContextLimit(count)
        .withProfile(rotary == 0 ? Optional.of(randomProfile(shape)) : Optional.empty())
        .withTables(Optional.of(tables));
  }

  /** Returns a random profile for methods that need one; always the same. */
  private Profile randomProfile(CacheShape shape) {
    if (randomProfile == null) {
      int together =
          valueHeads > 0
              ? valueHeads
              : CommvqShape.defaultValueHeads(shape.kvHeads(), shape.valueDim());
      randomProfile = RandomMeadTables.addTo(RandomCodebookProfile.profile(shape, together), shape);
    }
    return randomProfile;
  }
}
