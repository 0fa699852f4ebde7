package dev.kvasir.codec.turboquant;

import dev.kvasir.codec.BitWidthMethod;

/**
 * The TurboQuant method: random rotations, and levels fitted to coordinates of random directions.
 */
public final class TurboquantMethod extends BitWidthMethod {
  public TurboquantMethod() {
    super("turboquant", TurboquantConfig::of, "turboquant:1|2|3|4: k, v (bits), seed");
  }
}
