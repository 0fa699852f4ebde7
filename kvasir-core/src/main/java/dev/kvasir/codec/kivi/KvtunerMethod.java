package dev.kvasir.codec.kivi;

import dev.kvasir.codec.BitWidthMethod;

/** KVTuner: codes of KIVI with bits of keys and of values that each layer has for itself. */
public final class KvtunerMethod extends BitWidthMethod {
  public KvtunerMethod() {
    super(
        "kvtuner",
        KvtunerConfig::of,
        "kvtuner:2|3|4|5|6|8 (in the mean):",
        "  group (32|64|128), widths (profile|same)");
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }
}
