package dev.kvasir.codec.mead;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.Calibration;
import java.util.List;
import java.util.Optional;

/**
 * The Mead method: predicts keys and values from tables and allocates bits by their effect on the
 * output.
 */
public final class MeadMethod extends BitWidthMethod {
  public MeadMethod() {
    super(
        "mead",
        MeadConfig::of,
        "mead:1 to mead:4, such as 1.5: tables, first,",
        "  classes, means, late-sinks, budget, floor;",
        "  with tables of the profile");
  }

  @Override
  public Optional<Calibration> calibration() {
    return Optional.of(new Calibration(Calibration.Command.CALIBRATE, List.of()));
  }
}
