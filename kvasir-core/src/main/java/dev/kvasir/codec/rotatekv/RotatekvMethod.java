package dev.kvasir.codec.rotatekv;

import dev.kvasir.codec.BitWidthMethod;

/**
 * The RotateKV method: rotates keys of several heads together and quantizes channels of similar
 * size together.
 */
public final class RotatekvMethod extends BitWidthMethod {
  public RotatekvMethod() {
    super(
        "rotatekv",
        RotatekvConfig::of,
        "rotatekv:1|2|3|4|8: k, v (bits), heads,",
        "  group (32|64|128), clip, order (on|off)");
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }
}
