package dev.kvasir.codec.pmkvq;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.Calibration;
import dev.kvasir.codec.Method;
import dev.kvasir.codec.SpecText;
import java.util.List;
import java.util.Optional;

/** PM-KVQ: codes that begin with 16 bits and shrink under a budget. */
public final class PmkvqMethod implements Method {
  @Override
  public List<String> names() {
    return List.of("pmkvq");
  }

  @Override
  public String typed() {
    return "pmkvq:BITS";
  }

  @Override
  public List<String> help() {
    return List.of(
        "pmkvq:2|4|8: budget (512MiB, 4bits, pool),",
        "  shrink (page|layer), keys (channel|token),",
        "  widths, shift (equivalent|modified|direct),",
        "  born (narrow|wide)");
  }

  @Override
  public CachePlan plan(SpecText spec) {
    return PmkvqPlan.of(spec);
  }

  @Override
  public boolean looksUp() {
    return true;
  }

  @Override
  public Optional<Calibration> calibration() {
    return Optional.of(
        new Calibration(Calibration.Command.CALIBRATE, List.copyOf(PmkvqPlan.FLOORS)));
  }
}
