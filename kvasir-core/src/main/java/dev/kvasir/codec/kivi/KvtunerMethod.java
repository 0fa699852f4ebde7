package dev.kvasir.codec.kivi;

import dev.kvasir.codec.BitWidthMethod;

/** KVTuner: KIVI codes with separate bit widths for the keys and values of each layer. */
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
