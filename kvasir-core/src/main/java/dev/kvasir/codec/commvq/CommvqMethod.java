package dev.kvasir.codec.commvq;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.Calibration;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodExample.Trait;
import dev.kvasir.codec.MethodFamily;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;

/** CommVQ: sums of codebook rows trained for the model. */
public final class CommvqMethod extends BitWidthMethod {
  public CommvqMethod() {
    super(
        "commvq",
        MethodFamily.CODEBOOKS,
        CommvqConfig::of,
        "commvq:1|2|3|4: beam, values=encoder; with",
        "  codebooks of the profile");
  }

  @Override
  public Optional<Calibration> calibration() {
    return Optional.of(
        new Calibration(
            Calibration.Command.CALIBRATE,
            List.copyOf(CommvqConfig.BITS),
            List.of("values=encoder")));
  }

  /** The nearest center of each stage, no sinks, and the last 128 tokens in 16 bits. */
  @Override
  public Optional<String> paperSettings() {
    return Optional.of("beam=1,sinks=0,window=128,prefill=exact");
  }

  @Override
  public List<MethodExample> examples() {
    return MethodExample.of(
        EnumSet.of(Trait.ALTERS_CONSTANTS, Trait.SLOW_ENCODER),
        "commvq:1",
        "commvq:2,window=0,beam=1",
        "commvq:2,window=40,sinks=130",
        "commvq:1,values=encoder,window=10",
        "commvq:1,beam=1",
        "commvq:2,beam=1,window=0",
        "commvq:2,values=encoder,sinks=0");
  }
}
