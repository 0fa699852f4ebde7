package dev.kvasir.lab.report;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.eval.Settings;
import dev.kvasir.lab.eval.Task;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A table of the results page: which kinds of cache it compares, and on what. A new method joins
 * the first table by its lines here, and has one of its own for what makes it work.
 *
 * @param name as a user types it
 * @param specs kinds of cache; half precision is always the first row
 */
public record StandardTable(
    String name, List<String> specs, Set<Task> tasks, List<Integer> contexts, int samples) {
  private static final int STEPS = 40;
  private static final long SEED = 1;

  /** Enough to see that everything runs and which rows fall apart. */
  private static final List<Integer> QUICK_CONTEXTS = List.of(1500);

  private static final int QUICK_SAMPLES = 6;

  /**
   * Every method at the widths that it is used with. Two minutes a row on two processors. With 20
   * programs a share of one half is known to within 20 percent points, which tells a method that
   * works from one that does not.
   */
  private static final StandardTable METHODS =
      new StandardTable(
          "methods",
          List.of(
              "kivi:4",
              "patternkv:4",
              "kivi:2",
              "kivi:2,group=64",
              "patternkv:2,rope=static",
              "patternkv:2",
              "kivi:2,group=32",
              "mixkvq",
              "pmkvq:2,widths=same",
              "pmkvq:2,budget=4bits",
              "commvq:1",
              "commvq:2"),
          EnumSet.of(Task.PPL, Task.KLD, Task.NEEDLE, Task.CHAIN),
          List.of(2000, 8000),
          20);

  /** PatternKV without each of its parts, and with fewer patterns. */
  private static final StandardTable PATTERNS =
      new StandardTable(
          "patternkv",
          List.of(
              "kivi:2",
              "kivi:2,group=64",
              "patternkv:2,rope=static",
              "patternkv:2,k-patterns=off",
              "patternkv:2,rope=static,v-patterns=off",
              "patternkv:2,rope=static,new-patterns=off",
              "patternkv:2,rope=static,v-threshold=off",
              "patternkv:2,rope=static,sinks=16",
              "patternkv:2,rope=static,patterns=2",
              "patternkv:2,rope=static,patterns=4",
              "patternkv:2,rope=static,patterns=8",
              "patternkv:2,rope=static,patterns=16",
              "patternkv:2",
              "patternkv:2,new-patterns=off",
              "patternkv:2,new-patterns=off,patterns=8"),
          EnumSet.of(Task.KLD, Task.NEEDLE, Task.CHAIN),
          List.of(4000),
          20);

  /** MixKVQ without what queries tell, and with other groups and residuals. */
  private static final StandardTable MIXES =
      new StandardTable(
          "mixkvq",
          List.of(
              "kivi:2,group=32,sinks=32",
              "mixkvq",
              "mixkvq,salience=error",
              "mixkvq,queries=sequence",
              "kivi,k=3,v=2,group=32,sinks=32",
              "mixkvq,group=64",
              "mixkvq,group=128",
              "mixkvq,residual=256",
              "mixkvq,residual=512"),
          EnumSet.of(Task.KLD, Task.NEEDLE, Task.CHAIN),
          List.of(4000),
          20);

  /**
   * PM-KVQ with and without what is not the paper's, the paper's with each shift and without
   * smoothing, widths of layers, and other methods that end with as many bytes. In 6 MiB, 1,000
   * tokens keep codes of 16 bits, 2,000 have 8 to 16, and 8,000 have 2 to 4; in 34 MiB none
   * shrinks.
   */
  private static final StandardTable SHRINKING =
      new StandardTable(
          "pmkvq",
          List.of(
              "kivi:2,group=64",
              "patternkv:2",
              "kivi:2,group=32",
              "pmkvq:2,budget=6MiB,widths=same",
              "pmkvq:2,budget=6MiB,widths=same,shrink=layer",
              "pmkvq:2,budget=6MiB,widths=same,keys=token",
              "pmkvq:2,budget=6MiB,widths=same,keys=token,shrink=layer",
              "pmkvq:2,budget=6MiB,widths=same,keys=token,shrink=layer,shift=modified",
              "pmkvq:2,budget=6MiB,widths=same,keys=token,shrink=layer,shift=direct",
              "pmkvq:2,budget=6MiB,widths=same,keys=token,shrink=layer,smoothing=off",
              "mixkvq",
              "kivi:3,group=64",
              "kivi:2,group=64,widths=profile",
              "pmkvq:2,budget=8MiB,widths=same",
              "pmkvq:2,budget=8MiB",
              "pmkvq:2,budget=34MiB,widths=same"),
          EnumSet.of(Task.KLD, Task.NEEDLE, Task.CHAIN),
          List.of(1000, 2000, 8000),
          20);

  /** CommVQ with a search for codes that carries on fewer sums, and without sinks. */
  private static final StandardTable CODEBOOKS =
      new StandardTable(
          "commvq",
          List.of(
              "kivi:1,group=32",
              "commvq:1,sinks=0",
              "commvq:1,sinks=0,beam=1",
              "commvq:1",
              "kivi:2,group=32",
              "commvq:2,sinks=0",
              "commvq:2,sinks=0,beam=1",
              "commvq:2"),
          EnumSet.of(Task.KLD, Task.NEEDLE, Task.CHAIN),
          List.of(4000),
          20);

  public static final List<StandardTable> ALL =
      List.of(METHODS, PATTERNS, MIXES, SHRINKING, CODEBOOKS);

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

  public Settings settings() {
    return of(contexts, samples);
  }

  public Settings quickSettings() {
    return of(QUICK_CONTEXTS, QUICK_SAMPLES);
  }

  private Settings of(List<Integer> lengths, int count) {
    List<CacheSpec> parsed = specs.stream().map(CacheSpec::parse).toList();
    return new Settings(parsed, tasks, lengths, count, STEPS, SEED);
  }
}
