package dev.kvasir.methods.ott;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodFamily;
import java.util.List;

/** The OTT method: KIVI codes, except for the few tokens with the smallest keys. */
public final class OttMethod extends BitWidthMethod {
  public OttMethod() {
    super(
        "ott",
        OttConfig::of,
        "ott:1|2|3|4|8: outliers (1 to 16 of 128",
        "  tokens, kept as they are), k, v, group");
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
    return MethodExample.of("ott:2", "ott:2,window=40", "ott:2,k=3,group=32,outliers=2,sinks=5");
  }
}
