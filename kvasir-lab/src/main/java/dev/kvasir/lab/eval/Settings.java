package dev.kvasir.lab.eval;

import dev.kvasir.cache.CacheSpec;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What an evaluation is to do.
 *
 * @param specs kinds of cache, half precision first
 * @param contexts lengths of needle documents and tables, in tokens; the text is read to the
 *     longest
 * @param samples questions of each length, programs, or questions of a file
 * @param steps of a program
 */
public record Settings(
    List<CacheSpec> specs,
    Set<Task> tasks,
    List<Integer> contexts,
    int samples,
    int steps,
    long seed) {
  public Settings {
    LinkedHashSet<CacheSpec> withReference = new LinkedHashSet<>();
    withReference.add(CacheSpec.DEFAULT);
    withReference.addAll(specs);
    specs = List.copyOf(withReference);
    contexts = new ArrayList<>(contexts).stream().sorted().distinct().toList();
    tasks = EnumSet.copyOf(tasks);
  }

  public int longestContext() {
    return contexts.getLast();
  }
}
