package dev.kvasir.methods.oscar;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.Calibration;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodExample.Trait;
import dev.kvasir.codec.MethodFamily;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;

/**
 * The OSCAR method: rotates heads by attention statistics, then quantizes clipped ranges uniformly
 * per token.
 */
public final class OscarMethod extends BitWidthMethod {
  public OscarMethod() {
    super(
        "oscar",
        MethodFamily.ROTATIONS,
        OscarConfig::of,
        "oscar:1|2|3|4|8: k, v (bits),",
        "  group (32|64|128), clip (0 to 1); with",
        "  rotations of the profile");
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }

  @Override
  public Optional<Calibration> calibration() {
    return Optional.of(new Calibration(Calibration.Command.CALIBRATE, List.of()));
  }

  @Override
  public List<MethodExample> examples() {
    return MethodExample.of(
        EnumSet.of(Trait.ALTERS_CONSTANTS),
        "oscar:2",
        "oscar:3,k=4,group=32,sinks=5",
        "oscar:2,window=40");
  }
}
