package dev.kvasir.codec.commvq;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.Calibration;
import dev.kvasir.codec.Method;
import dev.kvasir.codec.SpecText;
import java.util.List;
import java.util.Optional;

/** CommVQ: sums of rows of codebooks that were trained for the model. */
public final class CommvqMethod implements Method {
  @Override
  public List<String> names() {
    return List.of("commvq");
  }

  @Override
  public String typed() {
    return "commvq:BITS";
  }

  @Override
  public List<String> help() {
    return List.of("commvq:1|2|3|4: beam; with codebooks of the", "  profile");
  }

  @Override
  public CachePlan plan(SpecText spec) {
    return CommvqPlan.of(spec);
  }

  @Override
  public Optional<Calibration> calibration() {
    return Optional.of(
        new Calibration(Calibration.Command.CALIBRATE, List.copyOf(CommvqPlan.BITS)));
  }
}
