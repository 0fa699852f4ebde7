package dev.kvasir.methods.vqllm;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.Calibration;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodExample.Trait;
import dev.kvasir.codec.MethodFamily;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;

/**
 * The VQLLM method: encodes groups of channels as sums of residual codebook rows, with codebooks
 * per layer.
 */
public final class VqllmMethod extends BitWidthMethod {
  public VqllmMethod() {
    super(
        "vqllm",
        MethodFamily.CODEBOOKS,
        VqllmConfig::of,
        "vqllm:1|2: with codebooks of the profile");
  }

  @Override
  public Optional<Calibration> calibration() {
    return Optional.of(new Calibration(Calibration.Command.CALIBRATE, List.of()));
  }

  @Override
  public List<MethodExample> examples() {
    return MethodExample.of(
        EnumSet.of(Trait.ALTERS_CONSTANTS, Trait.SLOW_ENCODER),
        "vqllm:2",
        "vqllm:1,window=0",
        "vqllm:2,sinks=5");
  }
}
