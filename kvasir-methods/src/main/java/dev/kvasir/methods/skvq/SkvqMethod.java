package dev.kvasir.methods.skvq;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodFamily;
import java.util.List;

/** The SKVQ method: reorders channels by magnitude, clips ranges, and quantizes per token. */
public final class SkvqMethod extends BitWidthMethod {
  public SkvqMethod() {
    super(
        "skvq",
        SkvqConfig::of,
        "skvq:1|2|3|4|8: k, v, group (32|64|128),",
        "  reorder, clip (on|off)");
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
        "skvq:2,group=32", "skvq:3,v=2,reorder=off,sinks=0", "skvq:2,group=32,window=40");
  }
}
