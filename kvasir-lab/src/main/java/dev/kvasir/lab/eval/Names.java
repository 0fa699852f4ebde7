package dev.kvasir.lab.eval;

import java.util.List;
import java.util.stream.Collectors;

/** What pieces of an evaluation are called. */
final class Names {
  private Names() {}

  static String of(List<Contender> rows) {
    return rows.stream().map(Contender::name).collect(Collectors.joining("; "));
  }

  /**
   * A stretch of samples, counted from 1; nothing where it is all of them.
   *
   * @param what the samples are
   */
  static String part(String what, int from, int to, int inAll) {
    if (from == 0 && to == inAll) {
      return "";
    }
    return to == from + 1
        ? ", %s %d of %d".formatted(what, to, inAll)
        : ", %s %d to %d of %d".formatted(what + "s", from + 1, to, inAll);
  }
}
