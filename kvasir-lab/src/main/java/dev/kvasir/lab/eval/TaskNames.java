package dev.kvasir.lab.eval;

import java.util.List;
import java.util.stream.Collectors;

/** Names of evaluation tasks. */
final class TaskNames {
  private TaskNames() {}

  static String of(List<CandidateCache> rows) {
    return rows.stream().map(CandidateCache::name).collect(Collectors.joining("; "));
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
