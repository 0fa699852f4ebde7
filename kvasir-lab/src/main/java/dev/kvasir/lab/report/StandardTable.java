package dev.kvasir.lab.report;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.eval.EvaluationSettings;
import dev.kvasir.lab.eval.Reading;
import dev.kvasir.lab.eval.Task;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A table of the results page: the caches it compares and their tasks. All rows of a table keep the
 * same number of first tokens in full precision, because sixteen sinks halve the divergence of some
 * methods; the table {@code sinks} shows the effect. Rows are chosen by hand, because published
 * results refer to them; {@code eval --kv} measures any other spec.
 *
 * @param name name as typed
 * @param specs cache specs; fp16 is always the first row
 * @param samples enough to distinguish a proportion of one half from two thirds
 */
public record StandardTable(
    String name,
    List<String> specs,
    Set<Task> tasks,
    List<Integer> contexts,
    int samples,
    Prefill prefill) {
  private static final int STEPS = 40;
  private static final long SEED = 1;
  private static final int SAMPLES = 60;

  /** Enough to see that everything runs and which rows fail. */
  private static final List<Integer> QUICK_CONTEXTS = List.of(1500);

  private static final int QUICK_SAMPLES = 6;

  /** Drift has its own table with fewer samples, since each takes 512 steps. */
  private static final int DRIFT_SAMPLES = 20;

  private static final Set<Task> ALL_TASKS =
      EnumSet.complementOf(EnumSet.of(Task.JSONL, Task.DRIFT));

  /** Divergence distinguishes parts of a method where answers cannot. */
  private static final Set<Task> TEXT_TASKS = EnumSet.of(Task.KLD, Task.PROSE);

  private static List<String> specs(String text) {
    return List.of(text.strip().split("\\s+"));
  }

  private static StandardTable chunked(
      String name, Set<Task> tasks, List<Integer> contexts, String specs) {
    return new StandardTable(name, specs(specs), tasks, contexts, SAMPLES, Prefill.CHUNKED);
  }

  private static StandardTable exact(
      String name, Set<Task> tasks, List<Integer> contexts, String specs) {
    return new StandardTable(name, specs(specs), tasks, contexts, SAMPLES, Prefill.EXACT);
  }

  /** The four methods and KIVI at their usual widths. */
  private static final StandardTable METHODS =
      chunked(
          "methods",
          ALL_TASKS,
          List.of(8000),
          """
          kivi:4,sinks=16 kivi:3,group=64,sinks=16 kivi,k=4,v=2,group=32,sinks=16
          kivi,k=2,v=4,group=32,sinks=16 kivi:2,group=32,sinks=16 kivi:2,group=64,sinks=16
          kivi:2,sinks=16 patternkv:4,sinks=16 patternkv:2,sinks=16
          patternkv:2,rope=static,sinks=16 mixkvq,sinks=16 pmkvq:4,widths=same,sinks=16
          pmkvq:2,widths=same,sinks=16 commvq:2,sinks=16 commvq:1,sinks=16
          """);

  /**
   * Baselines of the papers and later methods, next to KIVI. {@code fp32} shows the effect of
   * last-bit differences alone, since activations are quantized to bytes.
   */
  private static final StandardTable BASELINES =
      chunked(
          "baselines",
          EnumSet.of(Task.PPL, Task.KLD, Task.PROSE, Task.NEEDLE, Task.CHAIN),
          List.of(8000),
          """
          fp32 kivi:4,sinks=16 quarot:4,sinks=16 turboquant:4,sinks=16 qserve:4,sinks=16
          kivi:3,group=64,sinks=16 turboquant:3,sinks=16 kvtuner:3,sinks=16
          kivi:2,group=32,sinks=16 quarot:2,sinks=16 turboquant:2,sinks=16 rotatekv:2,sinks=16
          kvarn:2,sinks=16 oscar:2,sinks=16 ott:2,sinks=16 zipcache:2,sinks=16 mikv:2,sinks=16
          skvq:2,group=32,sinks=16 kvquant:2,sinks=16 vqllm:2,sinks=16 vqllm:1,sinks=16
          """);

  /**
   * Generated text, where a cache attends to tokens that were generated with its own quantized
   * past.
   */
  private static final StandardTable DRIFT =
      new StandardTable(
          "drift",
          specs(
              """
              kivi:4,sinks=16 kivi:3,group=64,sinks=16 kivi:2,group=32,sinks=16 kivi:2,sinks=16
              patternkv:2,sinks=16 patternkv:2,rope=static,sinks=16 mixkvq,sinks=16
              pmkvq:2,widths=same,sinks=16 commvq:2,sinks=16 commvq:1,sinks=16 mead:2.75,sinks=16
              mead:1.75,sinks=16 mead:1.25,sinks=16 quarot:4,sinks=16 qserve:4,sinks=16
              kvtuner:3,sinks=16 turboquant:3,sinks=16 turboquant:2,sinks=16 quarot:2,sinks=16
              rotatekv:2,sinks=16 kvarn:2,sinks=16 oscar:2,sinks=16 ott:2,sinks=16
              skvq:2,group=32,sinks=16 kvquant:2,sinks=16 zipcache:2,sinks=16 mikv:2,sinks=16
              vqllm:2,sinks=16 vqllm:1,sinks=16
              """),
          EnumSet.of(Task.DRIFT),
          List.of(1000),
          DRIFT_SAMPLES,
          Prefill.CHUNKED);

  /** The effect of full-precision first tokens on each method. */
  private static final StandardTable SINKS =
      chunked(
          "sinks",
          TEXT_TASKS,
          List.of(8000),
          """
          kivi:4,sinks=0 kivi:4,sinks=16 kivi:2,group=32,sinks=0 kivi:2,group=32,sinks=16
          patternkv:2,sinks=0 patternkv:2,sinks=16 mixkvq,sinks=0 mixkvq,sinks=16
          pmkvq:2,widths=same,sinks=0 pmkvq:2,widths=same,sinks=16 commvq:2,sinks=0
          commvq:2,sinks=16
          """);

  private static final String PATTERN_PARTS =
      """
      kivi:2,sinks=16 kivi:2,group=64,sinks=16 patternkv:2,rope=static,sinks=16
      patternkv:2,rope=static,k-patterns=off,sinks=16
      patternkv:2,rope=static,v-patterns=off,sinks=16
      patternkv:2,rope=static,new-patterns=off,sinks=16
      patternkv:2,rope=static,v-threshold=off,sinks=16 patternkv:2,rope=static,patterns=8,sinks=16
      patternkv:2,rope=static,patterns=16,sinks=16 patternkv:2,sinks=16
      patternkv:2,v-patterns=off,sinks=16 patternkv:2,new-patterns=off,sinks=16
      patternkv:2,v-threshold=off,sinks=16 patternkv:2,patterns=8,sinks=16
      patternkv:2,patterns=16,sinks=16
      """;

  /** Ablations of PatternKV with patterns mined from the whole prompt. */
  private static final StandardTable PATTERNS =
      exact("patternkv", TEXT_TASKS, List.of(4000), PATTERN_PARTS);

  /**
   * The same with prompts quantized during prefill, so that patterns are mined from the first page.
   */
  private static final StandardTable CHUNKED_PATTERNS =
      chunked("patternkv-chunked", TEXT_TASKS, List.of(4000), PATTERN_PARTS);

  /** MixKVQ without query information, and with other groups and residual windows. */
  private static final StandardTable MIXES =
      chunked(
          "mixkvq",
          TEXT_TASKS,
          List.of(4000),
          """
          kivi:4,sinks=16 kivi,k=3,v=2,group=32,sinks=16 kivi,k=4,v=2,group=32,sinks=16
          kivi,k=2,v=4,group=32,sinks=16 kivi:2,group=32,sinks=16 mixkvq,sinks=16
          mixkvq,salience=error,sinks=16 mixkvq,queries=sequence,sinks=16 mixkvq,group=64,sinks=16
          mixkvq,group=128,sinks=16 mixkvq,residual=256,sinks=16 mixkvq,residual=512,sinks=16
          """);

  /**
   * PM-KVQ with and without additions to the paper, the paper's version with each shift and without
   * smoothing, and other methods of equal final size. Each has the smallest budget that holds the
   * tokens.
   */
  private static final StandardTable SHRINKING =
      chunked(
          "pmkvq",
          TEXT_TASKS,
          List.of(8000),
          """
          kivi:2,group=64,sinks=16 kivi:2,group=32,sinks=16 kivi:3,group=64,sinks=16
          pmkvq:2,widths=same,sinks=16 pmkvq:2,widths=same,shrink=layer,sinks=16
          pmkvq:2,widths=same,keys=token,sinks=16
          pmkvq:2,widths=same,keys=token,shrink=layer,born=wide,sinks=16
          pmkvq:2,widths=same,keys=token,shrink=layer,born=wide,shift=modified,sinks=16
          pmkvq:2,widths=same,keys=token,shrink=layer,born=wide,shift=direct,sinks=16
          pmkvq:2,widths=same,keys=token,shrink=layer,born=wide,smoothing=off,sinks=16
          pmkvq:4,widths=same,sinks=16
          pmkvq:4,widths=same,keys=token,shrink=layer,born=wide,sinks=16
          pmkvq:4,widths=same,keys=token,shrink=layer,born=wide,shift=modified,sinks=16
          pmkvq:4,widths=same,keys=token,shrink=layer,born=wide,shift=direct,sinks=16
          """);

  /** Layer widths by sensitivity next to equal widths, in tight budgets. */
  private static final StandardTable ALLOCATION =
      chunked(
          "pmkvq-widths",
          TEXT_TASKS,
          List.of(8000),
          """
          kivi:3,group=64,sinks=16 kivi:2,group=64,widths=profile,sinks=16
          pmkvq:2,budget=4bits,widths=same,sinks=16 pmkvq:2,budget=4bits,widths=profile,sinks=16
          pmkvq:2,budget=4bits,widths=same,shrink=layer,sinks=16
          pmkvq:2,budget=4bits,widths=profile,shrink=layer,sinks=16
          pmkvq:2,budget=5bits,widths=same,sinks=16 pmkvq:2,budget=5bits,widths=profile,sinks=16
          pmkvq:2,budget=5bits,widths=same,shrink=layer,sinks=16
          pmkvq:2,budget=5bits,widths=profile,shrink=layer,sinks=16
          """);

  /** CommVQ with a narrower beam search. */
  private static final StandardTable CODEBOOKS =
      chunked(
          "commvq",
          TEXT_TASKS,
          List.of(4000),
          """
          kivi:1,group=32,sinks=16 kivi:2,group=32,sinks=16 kivi:2,sinks=16 commvq:1,sinks=16
          commvq:1,beam=1,sinks=16 commvq:2,sinks=16 commvq:2,beam=1,sinks=16
          """);

  /**
   * Mead from one bit to three, next to KIVI and codebooks; {@code methods} has the others with the
   * same texts and tasks.
   */
  private static final StandardTable MEAD =
      chunked(
          "mead",
          EnumSet.of(Task.PROSE, Task.NEEDLE, Task.CHAIN),
          List.of(8000),
          """
          mead:1.25,sinks=16 mead:1.5,sinks=16 mead:1.75,sinks=16 mead:2.25,sinks=16 mead:2.75,sinks=16
          mead:3.25,sinks=16 kivi:2,group=32,sinks=16 kivi:3,group=64,sinks=16 kivi:4,sinks=16
          commvq:1,sinks=16 commvq:2,sinks=16
          """);

  /** Ablations of Mead at a rate where they show. */
  private static final StandardTable MEAD_PARTS =
      chunked(
          "mead-parts",
          EnumSet.of(Task.PROSE, Task.NEEDLE, Task.CHAIN),
          List.of(8000),
          """
          mead:1.75,sinks=16 mead:1.75,tables=centroids,sinks=16 mead:1.75,tables=off,sinks=16
          mead:1.75,first=coded,sinks=16 mead:1.75,classes=attention,sinks=16
          mead:1.75,means=off,sinks=16
          """);

  public static final List<StandardTable> ALL =
      List.of(
          METHODS,
          BASELINES,
          DRIFT,
          SINKS,
          PATTERNS,
          CHUNKED_PATTERNS,
          MIXES,
          SHRINKING,
          ALLOCATION,
          CODEBOOKS,
          MEAD,
          MEAD_PARTS);

  /** Tables of alternative caches on the same text. */
  static final List<StandardTable> ALTERNATIVES = List.of(METHODS, BASELINES, MEAD);

  public static StandardTable named(String name) {
    return ALL.stream()
        .filter(table -> table.name.equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "the table '%s' is unknown; known are %s".formatted(name, names())));
  }

  private static String names() {
    return ALL.stream().map(StandardTable::name).collect(Collectors.joining(", "));
  }

  /**
   * Returns every {@code ofAll}-th row, for one of several processes that share a table.
   *
   * @param number number of the process, from 1 on
   */
  public StandardTable part(int number, int ofAll) {
    List<String> some =
        IntStream.range(0, specs.size())
            .filter(row -> row % ofAll == number - 1)
            .mapToObj(specs::get)
            .toList();
    return new StandardTable(name, some, tasks, contexts, samples, prefill);
  }

  public EvaluationSettings settings() {
    return of(contexts, samples);
  }

  public EvaluationSettings quickSettings() {
    return of(QUICK_CONTEXTS, QUICK_SAMPLES);
  }

  private EvaluationSettings of(List<Integer> lengths, int count) {
    List<CacheSpec> parsed = specs.stream().map(CacheSpec::parse).toList();
    EvaluationSettings settings =
        new EvaluationSettings(parsed, tasks, lengths, count, STEPS, SEED);
    // Speeds have commands of their own, which alternate runs until results are stable.
    settings = settings.untimed();
    return prefill == Prefill.EXACT
        ? settings.withReading(Reading.exact(settings.longestContext()))
        : settings;
  }
}
