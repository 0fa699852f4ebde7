package dev.kvasir.methods.turboquant;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodExample.Trait;
import dev.kvasir.codec.MethodFamily;
import java.util.EnumSet;
import java.util.List;

/**
 * The TurboQuant method: random rotations, and levels fitted to coordinates of random directions.
 */
public final class TurboquantMethod extends BitWidthMethod {
  public TurboquantMethod() {
    super(
        "turboquant",
        MethodFamily.ROTATIONS,
        TurboquantConfig::of,
        "turboquant:1|2|3|4: k, v (bits), seed");
  }

  @Override
  public List<MethodExample> examples() {
    return MethodExample.of(
        EnumSet.of(Trait.ALTERS_CONSTANTS),
        "turboquant:2",
        "turboquant:3,k=4,window=0",
        "turboquant:2,sinks=5");
  }
}
