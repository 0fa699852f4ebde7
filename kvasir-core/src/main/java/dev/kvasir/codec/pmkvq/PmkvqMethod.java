package dev.kvasir.codec.pmkvq;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.Calibration;
import java.util.List;
import java.util.Optional;

/** PM-KVQ: codes that start with 16 bits and are requantized within a budget. */
public final class PmkvqMethod extends BitWidthMethod {
  public PmkvqMethod() {
    super(
        "pmkvq",
        PmkvqConfig::of,
        "pmkvq:2|4|8: budget (512MiB, 4bits, pool),",
        "  shrink (page|layer), keys (channel|token),",
        "  widths, shift (equivalent|modified|direct),",
        "  born (narrow|wide)");
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }

  @Override
  public Optional<Calibration> calibration() {
    return Optional.of(
        new Calibration(Calibration.Command.CALIBRATE, List.copyOf(PmkvqConfig.FLOORS)));
  }
}
