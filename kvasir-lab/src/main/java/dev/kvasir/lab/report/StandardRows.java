package dev.kvasir.lab.report;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.lab.eval.Settings;
import dev.kvasir.lab.eval.Task;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * What the standard table compares, and on what: every method at the widths that it is used with. A
 * new method joins the table by its line here.
 */
public final class StandardRows {
  private static final List<String> SPECS =
      List.of("fp16", "kivi:4", "kivi:4,group=32", "kivi:2", "kivi:2,group=32");

  private static final Set<Task> TASKS = EnumSet.of(Task.PPL, Task.KLD, Task.NEEDLE, Task.CHAIN);
  private static final int STEPS = 40;
  private static final long SEED = 1;

  private StandardRows() {}

  /**
   * Two minutes a row on two processors. With 20 programs a share of one half is known to within 20
   * percent points, which tells a method that works from one that does not.
   */
  public static Settings settings() {
    return of(List.of(2000, 8000), 20);
  }

  /** Enough to see that everything runs and which rows fall apart. */
  public static Settings quickSettings() {
    return of(List.of(1500), 6);
  }

  private static Settings of(List<Integer> contexts, int samples) {
    List<CacheSpec> specs = SPECS.stream().map(CacheSpec::parse).toList();
    return new Settings(specs, TASKS, contexts, samples, STEPS, SEED);
  }
}
