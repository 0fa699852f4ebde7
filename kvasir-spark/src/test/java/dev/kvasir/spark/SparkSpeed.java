package dev.kvasir.spark;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.eval.CacheEvaluator;
import dev.kvasir.lab.eval.EvaluationJournal;
import dev.kvasir.lab.eval.EvaluationSettings;
import dev.kvasir.lab.eval.Sources;
import dev.kvasir.lab.eval.Task;
import dev.kvasir.lab.work.LocalRunner;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.lab.work.RunnerProvider;
import dev.kvasir.lab.work.TaskInputs;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Measures the overhead and speedup of Spark: an evaluation in this process, as {@code local[2]},
 * and with one and two workers of one core each, in turn. A warm-up run of each does not count.
 *
 * <p>{@code SparkSpeed ROUNDS}
 */
final class SparkSpeed {
  private SparkSpeed() {}

  public static void main(String[] arguments) throws IOException {
    int rounds = arguments.length == 0 ? 3 : Integer.parseInt(arguments[0]);
    List<Double> here = new ArrayList<>();
    List<Double> local = new ArrayList<>();
    List<Double> one = new ArrayList<>();
    List<Double> two = new ArrayList<>();
    try (LoadedModel twoThreads = LoadedModel.bundled(EngineOptions.defaults().withThreads(2));
        LoadedModel alone = LoadedModel.bundled(EngineOptions.defaults().withThreads(1));
        StandaloneCluster cluster =
            new StandaloneCluster(Files.createTempDirectory("spark-speed"), 2)) {
      for (int i = 0; i < rounds; i++) {
        here.add(
            report(
                "here, two threads",
                seconds(twoThreads, new LocalRunner(WorkerContext.of(twoThreads)))));
        local.add(
            report("local[2]", seconds(alone, "local[2]", Map.of("spark.ui.enabled", "false"))));
        one.add(report("one worker", seconds(alone, cluster.address(), limited(1))));
        two.add(report("two workers", seconds(alone, cluster.address(), limited(2))));
      }
    }
    System.out.printf("local[2] takes %.2f of here%n", median(local) / median(here));
    System.out.printf("two workers take %.2f of one%n", median(two) / median(one));
    System.exit(0); // Spark threads may linger
  }

  private static double report(String what, double seconds) {
    System.out.printf("%-18s %6.1f s%n", what, seconds);
    return seconds;
  }

  private static Map<String, String> limited(int cores) {
    Map<String, String> settings = new HashMap<>(StandaloneCluster.settings(cores));
    settings.put("spark.cores.max", "" + cores);
    return settings;
  }

  private static double seconds(LoadedModel model, String place, Map<String, String> settings) {
    RunnerProvider.RunnerRequest request =
        new RunnerProvider.RunnerRequest(place, settings, false, TaskInputs.bundled(), model);
    try (Runner runner = new SparkRunnerProvider().open(request)) {
      return seconds(model, runner);
    }
  }

  private static double seconds(LoadedModel model, Runner runner) {
    EvaluationSettings settings =
        new EvaluationSettings(
                List.of(
                    CacheSpec.parse("kivi:4,window=0"),
                    CacheSpec.parse("kivi:2,window=0"),
                    CacheSpec.parse("patternkv:2,window=0")),
                EnumSet.of(Task.KLD, Task.NEEDLE, Task.CHAIN),
                List.of(600),
                16,
                8,
                1)
            .untimed();
    CacheEvaluator evaluator = new CacheEvaluator(model, settings, Sources.bundled(true));
    long start = 0;
    for (int turn = 0; turn < 2; turn++) {
      start = System.nanoTime();
      evaluator.run(runner, ProgressListener.NONE, EvaluationJournal.none());
    }
    return (System.nanoTime() - start) / 1e9;
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }
}
