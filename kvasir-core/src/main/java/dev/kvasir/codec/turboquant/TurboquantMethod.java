package dev.kvasir.codec.turboquant;

import dev.kvasir.codec.BitWidthMethod;

/** TurboQuant: random rotations, and the levels that suit coordinates of random directions. */
public final class TurboquantMethod extends BitWidthMethod {
  public TurboquantMethod() {
    super("turboquant", TurboquantConfig::of, "turboquant:1|2|3|4: k, v (bits), seed");
  }
}
