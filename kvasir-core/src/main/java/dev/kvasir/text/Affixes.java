package dev.kvasir.text;

import java.util.OptionalInt;

/** The tokens that a GGUF file adds before and after a text. */
record Affixes(OptionalInt first, OptionalInt last) {
  /** For encoders that add them themselves. */
  static final Affixes NONE = new Affixes(OptionalInt.empty(), OptionalInt.empty());

  int[] around(int[] ids) {
    int before = first.isPresent() ? 1 : 0;
    int after = last.isPresent() ? 1 : 0;
    if (before + after == 0) {
      return ids;
    }
    int[] all = new int[before + ids.length + after];
    first.ifPresent(id -> all[0] = id);
    System.arraycopy(ids, 0, all, before, ids.length);
    last.ifPresent(id -> all[all.length - 1] = id);
    return all;
  }
}
