package dev.kvasir.codec.quarot;

import dev.kvasir.codec.MethodOfBits;

/** QuaRot, its cache alone: heads rotated by a Hadamard transform, then uniform codes by token. */
public final class QuarotMethod extends MethodOfBits {
  public QuarotMethod() {
    super(
        "quarot",
        QuarotPlan::of,
        "quarot:1|2|3|4|8: k, v (bits),",
        "  group (32|64|128), clip (0 to 1)");
  }

  @Override
  public boolean looksUp() {
    return true;
  }
}
