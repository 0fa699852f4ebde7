package dev.kvasir.lab.report;

import dev.kvasir.Prefill;
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
 * A table of the results page: which kinds of cache it compares, and on what. All rows of a table
 * keep as many first tokens in full precision, since sixteen of them halve the divergence of some
 * methods; the table {@code sinks} shows by how much. A new method joins by its lines here.
 *
 * @param name as a user types it
 * @param specs kinds of cache; half precision is always the first row
 * @param samples enough to tell a share of one half from one of two thirds
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

  /** Enough to see that everything runs and which rows fall apart. */
  private static final List<Integer> QUICK_CONTEXTS = List.of(1500);

  private static final int QUICK_SAMPLES = 6;

  /** Drift has a table of its own, with fewer samples: each is 512 steps. */
  private static final int DRIFT_SAMPLES = 20;

  private static final Set<Task> ALL_TASKS =
      EnumSet.complementOf(EnumSet.of(Task.JSONL, Task.DRIFT));

  /** Divergence tells parts of a method apart where answers cannot yet. */
  private static final Set<Task> TEXT_TASKS = EnumSet.of(Task.KLD, Task.PROSE);

  private static StandardTable chunked(
      String name, Set<Task> tasks, List<Integer> contexts, String... specs) {
    return new StandardTable(name, List.of(specs), tasks, contexts, SAMPLES, Prefill.CHUNKED);
  }

  private static StandardTable exact(
      String name, Set<Task> tasks, List<Integer> contexts, String... specs) {
    return new StandardTable(name, List.of(specs), tasks, contexts, SAMPLES, Prefill.EXACT);
  }

  /** The four methods and KIVI, at the widths that they are used with. */
  private static final StandardTable METHODS =
      chunked(
          "methods",
          ALL_TASKS,
          List.of(8000),
          "kivi:4,sinks=16",
          "kivi:3,group=64,sinks=16",
          "kivi,k=4,v=2,group=32,sinks=16",
          "kivi,k=2,v=4,group=32,sinks=16",
          "kivi:2,group=32,sinks=16",
          "kivi:2,group=64,sinks=16",
          "kivi:2,sinks=16",
          "patternkv:4,sinks=16",
          "patternkv:2,sinks=16",
          "patternkv:2,rope=static,sinks=16",
          "mixkvq,sinks=16",
          "pmkvq:4,widths=same,sinks=16",
          "pmkvq:2,widths=same,sinks=16",
          "commvq:2,sinks=16",
          "commvq:1,sinks=16");

  /**
   * What the papers compare with, and what came after them, beside KIVI. {@code fp32} shows how far
   * a difference in the last bits goes by itself, since activations are rounded to bytes.
   */
  private static final StandardTable BASELINES =
      chunked(
          "baselines",
          EnumSet.of(Task.PPL, Task.KLD, Task.PROSE, Task.NEEDLE, Task.CHAIN),
          List.of(8000),
          "fp32",
          "kivi:4,sinks=16",
          "quarot:4,sinks=16",
          "turboquant:4,sinks=16",
          "qserve:4,sinks=16",
          "kivi:3,group=64,sinks=16",
          "turboquant:3,sinks=16",
          "kvtuner:3,sinks=16",
          "kivi:2,group=32,sinks=16",
          "quarot:2,sinks=16",
          "turboquant:2,sinks=16",
          "rotatekv:2,sinks=16",
          "kvarn:2,sinks=16",
          "oscar:2,sinks=16",
          "ott:2,sinks=16",
          "zipcache:2,sinks=16",
          "mikv:2,sinks=16",
          "skvq:2,group=32,sinks=16",
          "kvquant:2,sinks=16",
          "vqllm:2,sinks=16",
          "vqllm:1,sinks=16");

  /** Text as it is generated: what a cache attends to was written under its own packed past. */
  private static final StandardTable DRIFT =
      new StandardTable(
          "drift",
          List.of(
              "kivi:4,sinks=16",
              "kivi:3,group=64,sinks=16",
              "kivi:2,group=32,sinks=16",
              "kivi:2,sinks=16",
              "patternkv:2,sinks=16",
              "patternkv:2,rope=static,sinks=16",
              "mixkvq,sinks=16",
              "pmkvq:2,widths=same,sinks=16",
              "commvq:2,sinks=16",
              "commvq:1,sinks=16",
              "mead:2.5,sinks=16",
              "mead:1.5,sinks=16",
              "mead:1,sinks=16",
              "quarot:4,sinks=16",
              "qserve:4,sinks=16",
              "kvtuner:3,sinks=16",
              "turboquant:3,sinks=16",
              "turboquant:2,sinks=16",
              "quarot:2,sinks=16",
              "rotatekv:2,sinks=16",
              "kvarn:2,sinks=16",
              "oscar:2,sinks=16",
              "ott:2,sinks=16",
              "skvq:2,group=32,sinks=16",
              "kvquant:2,sinks=16",
              "zipcache:2,sinks=16",
              "mikv:2,sinks=16",
              "vqllm:2,sinks=16",
              "vqllm:1,sinks=16"),
          EnumSet.of(Task.DRIFT),
          List.of(1000),
          DRIFT_SAMPLES,
          Prefill.CHUNKED);

  /** What first tokens in full precision do for each method. */
  private static final StandardTable SINKS =
      chunked(
          "sinks",
          TEXT_TASKS,
          List.of(8000),
          "kivi:4,sinks=0",
          "kivi:4,sinks=16",
          "kivi:2,group=32,sinks=0",
          "kivi:2,group=32,sinks=16",
          "patternkv:2,sinks=0",
          "patternkv:2,sinks=16",
          "mixkvq,sinks=0",
          "mixkvq,sinks=16",
          "pmkvq:2,widths=same,sinks=0",
          "pmkvq:2,widths=same,sinks=16",
          "commvq:2,sinks=0",
          "commvq:2,sinks=16");

  private static final String[] PATTERN_PARTS = {
    "kivi:2,sinks=16",
    "kivi:2,group=64,sinks=16",
    "patternkv:2,rope=static,sinks=16",
    "patternkv:2,rope=static,k-patterns=off,sinks=16",
    "patternkv:2,rope=static,v-patterns=off,sinks=16",
    "patternkv:2,rope=static,new-patterns=off,sinks=16",
    "patternkv:2,rope=static,v-threshold=off,sinks=16",
    "patternkv:2,rope=static,patterns=8,sinks=16",
    "patternkv:2,rope=static,patterns=16,sinks=16",
    "patternkv:2,sinks=16",
    "patternkv:2,v-patterns=off,sinks=16",
    "patternkv:2,new-patterns=off,sinks=16",
    "patternkv:2,v-threshold=off,sinks=16",
    "patternkv:2,patterns=8,sinks=16",
    "patternkv:2,patterns=16,sinks=16"
  };

  /** PatternKV without each of its parts, patterns mined from the whole prompt. */
  private static final StandardTable PATTERNS =
      exact("patternkv", TEXT_TASKS, List.of(4000), PATTERN_PARTS);

  /** The same with prompts that are packed on the way: mined from the first page. */
  private static final StandardTable CHUNKED_PATTERNS =
      chunked("patternkv-chunked", TEXT_TASKS, List.of(4000), PATTERN_PARTS);

  /** MixKVQ without what queries tell, and with other groups and residuals. */
  private static final StandardTable MIXES =
      chunked(
          "mixkvq",
          TEXT_TASKS,
          List.of(4000),
          "kivi:4,sinks=16",
          "kivi,k=3,v=2,group=32,sinks=16",
          "kivi,k=4,v=2,group=32,sinks=16",
          "kivi,k=2,v=4,group=32,sinks=16",
          "kivi:2,group=32,sinks=16",
          "mixkvq,sinks=16",
          "mixkvq,salience=error,sinks=16",
          "mixkvq,queries=sequence,sinks=16",
          "mixkvq,group=64,sinks=16",
          "mixkvq,group=128,sinks=16",
          "mixkvq,residual=256,sinks=16",
          "mixkvq,residual=512,sinks=16");

  /**
   * PM-KVQ with and without what is not the paper's, the paper's with each shift and without
   * smoothing, and other methods that end with as many bytes. Each has the least budget that the
   * tokens fit in.
   */
  private static final StandardTable SHRINKING =
      chunked(
          "pmkvq",
          TEXT_TASKS,
          List.of(8000),
          "kivi:2,group=64,sinks=16",
          "kivi:2,group=32,sinks=16",
          "kivi:3,group=64,sinks=16",
          "pmkvq:2,widths=same,sinks=16",
          "pmkvq:2,widths=same,shrink=layer,sinks=16",
          "pmkvq:2,widths=same,keys=token,sinks=16",
          "pmkvq:2,widths=same,keys=token,shrink=layer,born=wide,sinks=16",
          "pmkvq:2,widths=same,keys=token,shrink=layer,born=wide,shift=modified,sinks=16",
          "pmkvq:2,widths=same,keys=token,shrink=layer,born=wide,shift=direct,sinks=16",
          "pmkvq:2,widths=same,keys=token,shrink=layer,born=wide,smoothing=off,sinks=16",
          "pmkvq:4,widths=same,sinks=16",
          "pmkvq:4,widths=same,keys=token,shrink=layer,born=wide,sinks=16",
          "pmkvq:4,widths=same,keys=token,shrink=layer,born=wide,shift=modified,sinks=16",
          "pmkvq:4,widths=same,keys=token,shrink=layer,born=wide,shift=direct,sinks=16");

  /**
   * Widths of layers by their sensitivity beside equal ones, in budgets that leave them no ease.
   */
  private static final StandardTable ALLOCATION =
      chunked(
          "pmkvq-widths",
          TEXT_TASKS,
          List.of(8000),
          "kivi:3,group=64,sinks=16",
          "kivi:2,group=64,widths=profile,sinks=16",
          "pmkvq:2,budget=4bits,widths=same,sinks=16",
          "pmkvq:2,budget=4bits,widths=profile,sinks=16",
          "pmkvq:2,budget=4bits,widths=same,shrink=layer,sinks=16",
          "pmkvq:2,budget=4bits,widths=profile,shrink=layer,sinks=16",
          "pmkvq:2,budget=5bits,widths=same,sinks=16",
          "pmkvq:2,budget=5bits,widths=profile,sinks=16",
          "pmkvq:2,budget=5bits,widths=same,shrink=layer,sinks=16",
          "pmkvq:2,budget=5bits,widths=profile,shrink=layer,sinks=16");

  /** CommVQ with a search for codes that carries on fewer sums. */
  private static final StandardTable CODEBOOKS =
      chunked(
          "commvq",
          TEXT_TASKS,
          List.of(4000),
          "kivi:1,group=32,sinks=16",
          "kivi:2,group=32,sinks=16",
          "kivi:2,sinks=16",
          "commvq:1,sinks=16",
          "commvq:1,beam=1,sinks=16",
          "commvq:2,sinks=16",
          "commvq:2,beam=1,sinks=16");

  /**
   * Mead from one bit to three, beside KIVI and codebooks; {@code methods} has the others, with the
   * same texts and tasks.
   */
  private static final StandardTable MEAD =
      chunked(
          "mead",
          EnumSet.of(Task.PROSE, Task.NEEDLE, Task.CHAIN),
          List.of(8000),
          "mead:1,sinks=16",
          "mead:1.25,sinks=16",
          "mead:1.5,sinks=16",
          "mead:2,sinks=16",
          "mead:2.5,sinks=16",
          "mead:3,sinks=16",
          "kivi:2,group=32,sinks=16",
          "kivi:3,group=64,sinks=16",
          "kivi:4,sinks=16",
          "commvq:1,sinks=16",
          "commvq:2,sinks=16");

  /** Mead without each of its parts, at a rate where that shows. */
  private static final StandardTable MEAD_PARTS =
      chunked(
          "mead-parts",
          EnumSet.of(Task.PROSE, Task.NEEDLE, Task.CHAIN),
          List.of(8000),
          "mead:1.5,sinks=16",
          "mead:1.5,tables=centroids,sinks=16",
          "mead:1.5,tables=off,sinks=16",
          "mead:1.5,first=coded,sinks=16",
          "mead:1.5,classes=energy,sinks=16",
          "mead:1.5,means=off,sinks=16");

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

  /** Tables of kinds of cache that are alternatives to each other, on the same text. */
  static final List<StandardTable> ALTERNATIVES = List.of(METHODS, BASELINES, MEAD);

  /** The table of that name. */
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
   * Every so manieth row, for one of several processes that share a table.
   *
   * @param number of the process, from 1 on
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
    // Speeds have commands of their own, which take turns until figures are steady.
    settings = settings.untimed();
    return prefill == Prefill.EXACT
        ? settings.withReading(Reading.exact(settings.longestContext()))
        : settings;
  }
}
