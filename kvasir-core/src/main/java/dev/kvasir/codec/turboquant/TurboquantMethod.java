package dev.kvasir.codec.turboquant;

import dev.kvasir.codec.MethodOfBits;

/** TurboQuant: random rotations, and the levels that suit coordinates of random directions. */
public final class TurboquantMethod extends MethodOfBits {
  public TurboquantMethod() {
    super("turboquant", TurboquantPlan::of, "turboquant:1|2|3|4: k, v (bits), seed");
  }
}
