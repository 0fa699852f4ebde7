package dev.kvasir.codec.kivi;

import dev.kvasir.codec.MethodOfBits;

/** KVTuner: codes of KIVI with bits of keys and of values that each layer has for itself. */
public final class KvtunerMethod extends MethodOfBits {
  public KvtunerMethod() {
    super(
        "kvtuner",
        KvtunerPlan::of,
        "kvtuner:2|3|4|5|6|8 (in the mean):",
        "  group (32|64|128), widths (profile|same)");
  }

  @Override
  public boolean looksUp() {
    return true;
  }
}
