package dev.kvasir.lab.eval;

import java.util.List;
import java.util.stream.Collectors;

/** Names of evaluation tasks. */
final class TaskNames {
  private TaskNames() {}

  /** Returns the names of up to two rows, or that of the first and the number of others. */
  static String of(List<CandidateCache> rows) {
    return rows.size() > 2
        ? "%s and %d others".formatted(rows.getFirst().name(), rows.size() - 1)
        : rows.stream().map(CandidateCache::name).collect(Collectors.joining("; "));
  }

  /**
   * Returns a suffix for a range of samples, counted from 1; empty for the full range.
   *
   * @param what name of a sample
   */
  static String part(String what, int from, int to, int total) {
    if (from == 0 && to == total) {
      return "";
    }
    return to == from + 1
        ? ", %s %d of %d".formatted(what, to, total)
        : ", %s %d to %d of %d".formatted(what + "s", from + 1, to, total);
  }
}
