package dev.kvasir.bench;

import dev.kvasir.LoadOptions.Device;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cli.arguments.DeviceArguments;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.engine.Batch;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.OptionValue;
import dev.kvasir.runtime.DeviceChoice;
import dev.kvasir.runtime.LoadedModel;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures decode speed by kind of cache and context length. */
@Command(
    name = "decode",
    description = {
      "Measure generation speed by kind of cache and length of context.",
      "Caches are filled with random vectors, which cost what real ones cost; kinds take turns, and"
          + " the medians are shown with their ratio to the first kind."
    },
    footer = {"  kvasir bench decode --context 0,8192,15000 --kv fp16,kivi:4,kivi:2"})
final class DecodeBench implements Callable<Integer> {
  /** Warm-up time, during which kernels are still being compiled. */
  private static final long WARM_UP_NANOS = 12_000_000_000L;

  private final PrintStream out;
  private final PrintStream err;

  @Mixin private BenchModelArguments model;

  @Mixin private DeviceArguments device;

  @Option(
      names = "--context",
      defaultValue = "0,8192,15000",
      split = ",",
      paramLabel = "N",
      description = "Tokens held before (default: ${DEFAULT-VALUE}).")
  private int[] contexts;

  @Option(
      names = "--kv",
      defaultValue = "fp16,kivi:4,kivi:2",
      paramLabel = "SPECS",
      description =
          "Kinds of cache, separated by commas or semicolons (default: ${DEFAULT-VALUE}).")
  private String kinds;

  @Option(
      names = "--tokens",
      defaultValue = "128",
      paramLabel = "N",
      description = {
        "Tokens of a turn (default: ${DEFAULT-VALUE}: a page, so that every method packs one, as"
            + " it",
        "  does in a long run)."
      })
  private int tokens;

  @Option(
      names = "--rounds",
      defaultValue = "5",
      paramLabel = "N",
      description = "Turns of each kind (default: ${DEFAULT-VALUE}).")
  private int rounds;

  private boolean isOnHost;

  DecodeBench(PrintStream out, PrintStream err) {
    this.out = out;
    this.err = err;
  }

  @Override
  public Integer call() {
    List<CacheSpec> specs = specs(kinds);
    OptionValue.atLeastOne("--tokens", tokens);
    OptionValue.atLeastOne("--rounds", rounds);
    model.check();
    DeviceChoice choice = device.choice(specs);
    isOnHost = choice.device().equals(Device.CPU);
    try (LoadedModel loaded = model.load(choice)) {
      checkContexts(loaded);
      specs.forEach(spec -> checkCapacity(loaded, spec));
      model.describe(out, loaded);
      if (!isOnHost) {
        out.println(loaded.device());
      }
      out.printf("%8s  %-24s %12s %8s %14s%n", "context", "cache", "tokens/s", "ratio", "KV bytes");
      for (int context : contexts) {
        measure(loaded, specs, context);
      }
    }
    return 0;
  }

  /** Splits a list of specs; a comma before key=value belongs to the preceding spec. */
  static List<CacheSpec> specs(String text) {
    return Arrays.stream(text.split(";|,(?=[^=,;]+(,|;|$))")).map(CacheSpec::parse).toList();
  }

  private void checkContexts(LoadedModel loaded) {
    int most = loaded.config().contextLength() - tokens;
    for (int context : contexts) {
      if (context < 0 || context > most) {
        throw new InvalidInputException(
            "--context is %d; expected 0 to %d, so that %d tokens fit after it"
                .formatted(context, most, tokens));
      }
    }
  }

  private void checkCapacity(LoadedModel loaded, CacheSpec spec) {
    int longest = IntStream.of(contexts).max().orElse(0);
    try (KvCache empty = loaded.newCache(spec)) {
      if (empty.capacity() - tokens < longest) {
        throw new InvalidInputException(
            "the cache '%s' holds %d tokens at the most; --context is %d, and %d come after it"
                .formatted(spec, empty.capacity(), longest, tokens));
      }
    }
  }

  private void measure(LoadedModel loaded, List<CacheSpec> specs, int context) {
    List<KvCache> caches = new ArrayList<>();
    try {
      for (CacheSpec spec : specs) {
        KvCache cache = loaded.newCache(spec);
        caches.add(cache);
        if (isOnHost) {
          CacheShape shape = loaded.config().cacheShape();
          RandomKv.fill(cache, shape, loaded.config().queryHeads(), context);
        } else {
          RandomKv.read(loaded, cache, context);
        }
      }
      double[][] speeds = new double[specs.size()][rounds];
      warmUp(loaded, caches);
      for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < specs.size(); i++) {
          speeds[i][round] = tokens * 1e9 / generate(loaded, caches.get(i));
        }
        err.printf("context %d, turn %d of %d%n", context, round + 1, rounds);
      }
      print(specs, caches, speeds, context);
      for (int i = 0; i < specs.size(); i++) {
        if (isOnHost && caches.get(i).observer().observesQueries()) {
          double nanosPerToken = 1e9 / Race.median(speeds[i]);
          out.println(ChannelSelection.measure(loaded, specs.get(i)).describe(nanosPerToken));
        }
      }
    } finally {
      caches.forEach(KvCache::close);
    }
  }

  private void warmUp(LoadedModel loaded, List<KvCache> caches) {
    err.println("warming up");
    long start = System.nanoTime();
    do {
      caches.forEach(cache -> generate(loaded, cache));
    } while (System.nanoTime() - start < WARM_UP_NANOS);
  }

  private void print(List<CacheSpec> specs, List<KvCache> caches, double[][] speeds, int context) {
    double first = Race.median(speeds[0]);
    for (int i = 0; i < specs.size(); i++) {
      double median = Race.median(speeds[i]);
      long bytes = caches.get(i).bytes().total();
      out.printf(
          Locale.ROOT,
          "%8d  %-24s %12.0f %8.2f %,14d%n",
          context,
          specs.get(i),
          median,
          median / first,
          bytes);
    }
  }

  private long generate(LoadedModel loaded, KvCache past) {
    Batch batch = new Batch();
    try (KvCache cache = past.fork()) {
      long start = System.nanoTime();
      for (int i = 0; i < tokens; i++) {
        batch.clear();
        batch.add(cache, i, true);
        loaded.forward(batch);
      }
      return System.nanoTime() - start;
    }
  }

  /**
   * The cost of query statistics in a method that quantizes by queries, per token of a sequence.
   *
   * @param observeNanos for observing the queries of all layers
   * @param selectNanos for selecting channels, averaged over the tokens of a block
   */
  private record ChannelSelection(CacheSpec spec, double observeNanos, double selectNanos) {
    private static final int TOKENS = 4096;

    static ChannelSelection measure(LoadedModel model, CacheSpec spec) {
      CacheShape shape = model.config().cacheShape();
      int queryHeads = model.config().queryHeads();
      float[] queries = new float[queryHeads * shape.headDim()];
      Arrays.fill(queries, 1.5f);
      try (KvCache cache = RandomKv.fill(model.newCache(spec), shape, queryHeads, TOKENS)) {
        double select = (double) cache.quantizationTime().learnNanos() / TOKENS;
        double observe = 0;
        for (int round = 0; round < 2; round++) { // the first round warms up
          long start = System.nanoTime();
          for (int i = 0; i < TOKENS; i++) {
            for (int layer = 0; layer < shape.layers(); layer++) {
              cache.observer().observe(layer, TOKENS + i, queries, 0);
            }
          }
          observe = (double) (System.nanoTime() - start) / TOKENS;
        }
        return new ChannelSelection(spec, observe, select);
      }
    }

    String describe(double stepNanos) {
      return String.format(
          Locale.ROOT,
          "%10s%s: %.1f us a token on queries, %.1f us on choosing channels: %.2f%% of a step",
          "",
          spec,
          observeNanos / 1e3,
          selectNanos / 1e3,
          100 * (observeNanos + selectNanos) / stepNanos);
    }
  }
}
