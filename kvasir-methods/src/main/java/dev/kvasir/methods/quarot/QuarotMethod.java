package dev.kvasir.methods.quarot;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodExample.Trait;
import dev.kvasir.codec.MethodFamily;
import java.util.EnumSet;
import java.util.List;

/**
 * The KV-cache part of QuaRot: rotates heads by a Hadamard transform, then quantizes uniformly per
 * token.
 */
public final class QuarotMethod extends BitWidthMethod {
  public QuarotMethod() {
    super(
        "quarot",
        QuarotConfig::of,
        "quarot:1|2|3|4|8: k, v (bits),",
        "  group (32|64|128), clip (0 to 1)");
  }

  @Override
  public MethodFamily family() {
    return MethodFamily.ROTATIONS;
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }

  @Override
  public List<MethodExample> examples() {
    return MethodExample.of(
        EnumSet.of(Trait.ALTERS_CONSTANTS),
        "quarot:2",
        "quarot:3,k=4,group=32,window=0",
        "quarot:2,window=40,sinks=5");
  }
}
