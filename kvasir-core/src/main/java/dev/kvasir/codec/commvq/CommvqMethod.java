package dev.kvasir.codec.commvq;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.Calibration;
import java.util.List;
import java.util.Optional;

/** CommVQ: sums of codebook rows trained for the model. */
public final class CommvqMethod extends BitWidthMethod {
  public CommvqMethod() {
    super("commvq", CommvqConfig::of, "commvq:1|2|3|4: beam; with codebooks of the", "  profile");
  }

  @Override
  public Optional<Calibration> calibration() {
    return Optional.of(
        new Calibration(Calibration.Command.CALIBRATE, List.copyOf(CommvqConfig.BITS)));
  }
}
