package dev.kvasir.bench;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.OptionValue;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Measures the cost of expert routing. */
@Command(
    name = "experts",
    description = {
      "Measure a mixture of experts against a dense model of as many active weights.",
      "Both read tokens at random, so many in a step; they take turns, and medians are shown with"
          + " the ratio of the mixture to the dense model."
    },
    footer = {
      "  kvasir bench shape --like moe-30b-a3b --type q4_k --out /tmp/moe.gguf",
      "  kvasir bench shape --like dense-a3b --type q4_k --out /tmp/dense.gguf",
      "  kvasir bench experts --dense /tmp/dense.gguf --experts /tmp/moe.gguf"
    })
final class ExpertBench implements Callable<Integer> {
  private final PrintStream out;
  private final PrintStream err;

  @Option(
      names = "--dense",
      required = true,
      paramLabel = "FILE",
      description = "A model whose tokens pass all weights.")
  private Path dense;

  @Option(
      names = "--experts",
      required = true,
      paramLabel = "FILE",
      description = "A model whose tokens choose.")
  private Path experts;

  @Option(
      names = "--rows",
      defaultValue = "1,8,64,256",
      split = ",",
      paramLabel = "N",
      description = "Tokens of a step (default: ${DEFAULT-VALUE}).")
  private int[] rows;

  @Option(
      names = "--tokens",
      defaultValue = "64",
      paramLabel = "N",
      description = "Tokens of a turn, at least one step (default: ${DEFAULT-VALUE}).")
  private int tokens;

  @Option(
      names = "--rounds",
      defaultValue = "7",
      paramLabel = "N",
      description = "Turns of each, after two that do not count (default: ${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--threads",
      defaultValue = "0",
      paramLabel = "N",
      description = "Threads; all processors unless given.")
  private int threads;

  ExpertBench(PrintStream out, PrintStream err) {
    this.out = out;
    this.err = err;
  }

  @Override
  public Integer call() {
    for (int count : rows) {
      OptionValue.atLeastOne("--rows", count);
    }
    OptionValue.atLeastOne("--tokens", tokens);
    OptionValue.atLeastOne("--rounds", rounds);
    OptionValue.atLeast("--threads", threads, 0);
    EngineOptions options =
        EngineOptions.defaults().withThreads(BenchModelArguments.threadCount(threads));
    try (LoadedModel plain = LoadedModel.load(dense, options);
        LoadedModel mixed = LoadedModel.load(experts, options)) {
      if (mixed.config().experts().isEmpty()) {
        throw new InvalidInputException("%s: has no experts".formatted(experts));
      }
      BenchModelArguments.describe(out, plain, BenchModelArguments.threadCount(threads));
      BenchModelArguments.describe(out, mixed, BenchModelArguments.threadCount(threads));
      out.printf("%8s %16s %18s %8s%n", "rows", "dense, tokens/s", "experts, tokens/s", "ratio");
      for (int count : rows) {
        measure(List.of(plain, mixed), count);
      }
    }
    return 0;
  }

  private void measure(List<LoadedModel> models, int count) {
    double[][] speeds = new double[2][rounds];
    for (int round = -2; round < rounds; round++) {
      for (int i = 0; i < 2; i++) {
        // The first rounds warm up; the next one overwrites their result.
        speeds[i][Math.max(0, round)] = speed(models.get(i), count, round);
      }
      err.printf("%d rows, turn %d of %d%n", count, Math.max(0, round + 1), rounds);
    }
    double plain = Race.median(speeds[0]);
    double mixed = Race.median(speeds[1]);
    out.printf(Locale.ROOT, "%8d %16.1f %18.1f %8.2f%n", count, plain, mixed, mixed / plain);
  }

  /** Returns tokens per second. */
  private double speed(LoadedModel model, int count, int round) {
    SplittableRandom random = new SplittableRandom(round);
    int steps = Math.ceilDiv(tokens, count);
    Batch batch = new Batch();
    try (KvCache cache = model.newCache(CacheSpec.DEFAULT)) {
      long start = System.nanoTime();
      for (int step = 0; step < steps; step++) {
        batch.clear();
        for (int row = 1; row <= count; row++) {
          batch.add(cache, random.nextInt(model.config().vocabulary()), row == count);
        }
        model.forward(batch);
      }
      return steps * count * 1e9 / (System.nanoTime() - start);
    }
  }
}
