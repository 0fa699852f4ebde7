package dev.kvasir.methods.rotatekv;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodExample.Trait;
import dev.kvasir.codec.MethodFamily;
import java.util.EnumSet;
import java.util.List;

/**
 * The RotateKV method: rotates keys of several heads together and quantizes channels of similar
 * size together.
 */
public final class RotatekvMethod extends BitWidthMethod {
  public RotatekvMethod() {
    super(
        "rotatekv",
        MethodFamily.ROTATIONS,
        RotatekvConfig::of,
        "rotatekv:1|2|3|4|8: k, v (bits), heads,",
        "  group (32|64|128), clip, order (on|off)");
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }

  @Override
  public List<MethodExample> examples() {
    return MethodExample.of(
        EnumSet.of(Trait.ALTERS_CONSTANTS), "rotatekv:2", "rotatekv:3,heads=1,order=off,sinks=0");
  }
}
