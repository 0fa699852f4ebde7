package dev.kvasir.codec.quarot;

import dev.kvasir.codec.BitWidthMethod;

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
  public boolean supportsOperandPrecision() {
    return true;
  }
}
