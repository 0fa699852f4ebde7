package dev.kvasir.methods.rotatekv;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.Calibration;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodExample.Trait;
import dev.kvasir.codec.MethodFamily;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;

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
        "  group (32|64|128), clip,",
        "  order (on|calibrated|off)");
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }

  /** Only {@code order=calibrated} needs it. */
  @Override
  public Optional<Calibration> calibration() {
    return Optional.of(new Calibration(Calibration.Command.CALIBRATE, List.of()));
  }

  @Override
  public List<MethodExample> examples() {
    return MethodExample.of(
        EnumSet.of(Trait.ALTERS_CONSTANTS),
        "rotatekv:2",
        "rotatekv:3,heads=1,order=off,sinks=0",
        "rotatekv:2,heads=2,sinks=5",
        "rotatekv:2,order=calibrated,sinks=5");
  }
}
