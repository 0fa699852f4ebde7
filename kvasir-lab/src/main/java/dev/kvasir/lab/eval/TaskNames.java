package dev.kvasir.lab.eval;

import java.util.List;
import java.util.stream.Collectors;

/** What pieces of an evaluation are called. */
final class TaskNames {
  private TaskNames() {}

  static String of(List<CandidateCache> rows) {
    return rows.stream().map(CandidateCache::name).collect(Collectors.joining("; "));
  }

  /**
   * A stretch of samples, counted from 1; nothing where it is all of them.
   *
   * @param what the samples are
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
