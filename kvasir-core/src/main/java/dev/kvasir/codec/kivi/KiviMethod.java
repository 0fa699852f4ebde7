package dev.kvasir.codec.kivi;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodFamily;
import java.util.List;

/** KIVI: uniform codes, with per-channel keys and per-token values. */
public final class KiviMethod extends BitWidthMethod {
  public KiviMethod() {
    super(
        "kivi",
        KiviConfig::of,
        "kivi:1|2|3|4|8: k, v (bits), group (32|64|128),",
        "  widths (same|profile)");
  }

  @Override
  public MethodFamily family() {
    return MethodFamily.GROUP_SCALES;
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }

  @Override
  public List<MethodExample> examples() {
    return MethodExample.of(
        "kivi:8",
        "kivi:4",
        "kivi:3,group=64",
        "kivi:2",
        "kivi:2,group=32,window=0",
        "kivi:1,sinks=5",
        "kivi:2,k=4,v=1,window=40,sinks=16",
        "kivi:4,window=300,sinks=130",
        "kivi:2,sinks=256,operands=8",
        "kivi:3,k=4,group=32,window=0,sinks=5",
        "kivi:3,group=32,window=0,sinks=5",
        "kivi:4,sinks=130,operands=8");
  }
}
