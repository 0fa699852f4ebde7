package dev.kvasir.methods.kvtuner;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodFamily;
import java.util.List;

/** KVTuner: KIVI codes with separate bit widths for the keys and values of each layer. */
public final class KvtunerMethod extends BitWidthMethod {
  public KvtunerMethod() {
    super(
        "kvtuner",
        MethodFamily.MIXED_WIDTHS,
        KvtunerConfig::of,
        "kvtuner:2|3|4|5|6|8 (in the mean):",
        "  group (32|64|128), widths (profile|same)");
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }

  @Override
  public List<MethodExample> examples() {
    return MethodExample.of("kvtuner:3", "kvtuner:3,group=32,sinks=5", "kvtuner:5");
  }
}
