package dev.kvasir.codec.vqllm;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.Calibration;
import dev.kvasir.codec.Method;
import dev.kvasir.codec.SpecText;
import java.util.List;
import java.util.Optional;

/** VQLLM: groups of channels as sums of rows of residual codebooks, one set for a layer. */
public final class VqllmMethod implements Method {
  @Override
  public List<String> names() {
    return List.of("vqllm");
  }

  @Override
  public String typed() {
    return "vqllm:BITS";
  }

  @Override
  public List<String> help() {
    return List.of("vqllm:1|2: with codebooks of the profile");
  }

  @Override
  public CachePlan plan(SpecText spec) {
    return VqllmPlan.of(spec);
  }

  @Override
  public Optional<Calibration> calibration() {
    return Optional.of(new Calibration(Calibration.Command.CALIBRATE, List.of()));
  }
}
