package dev.kvasir.codec.pmkvq;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.Calibration;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodFamily;
import java.util.List;
import java.util.Optional;

/** PM-KVQ: codes that start with 16 bits and are requantized within a budget. */
public final class PmkvqMethod extends BitWidthMethod {
  public PmkvqMethod() {
    super(
        "pmkvq",
        MethodFamily.MIXED_WIDTHS,
        PmkvqConfig::of,
        "pmkvq:2|4|8: budget (512MiB, 4bits, pool),",
        "  shrink (page|layer), keys (channel|token),",
        "  widths (budget|profile|same), born (narrow|wide),",
        "  shift (equivalent|modified|direct)");
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

  /**
   * Scales by token, whole layers requantized with the equivalent shift from 16 bits on, and the
   * first and the last 128 tokens in 16 bits.
   */
  @Override
  public Optional<String> paperSettings() {
    return Optional.of(
        "keys=token,shrink=layer,born=wide,shift=equivalent,sinks=1,window=128,prefill=exact");
  }

  @Override
  public List<MethodExample> examples() {
    return MethodExample.of(
        "pmkvq:2,budget=1MiB",
        "pmkvq:2,budget=260KiB,keys=token,shrink=layer",
        "pmkvq:2,budget=200KiB,shift=direct,keys=token,shrink=layer,born=wide",
        "pmkvq:2,budget=200KiB,shift=modified,window=40,sinks=16",
        "pmkvq:4,budget=240KiB,window=0,sinks=0",
        "pmkvq:8,budget=360KiB,sinks=130",
        "pmkvq:2,budget=1MiB,keys=token",
        "pmkvq:2,budget=220KiB,shrink=layer",
        "pmkvq:2,budget=260KiB,keys=token",
        "pmkvq:2,budget=260KiB",
        "pmkvq:2,budget=10bits,keys=token",
        "pmkvq:2,budget=20bits",
        "pmkvq:2,budget=10bits,shrink=layer,sinks=5",
        "pmkvq:2,budget=10bits",
        "pmkvq:2,budget=30bits",
        "pmkvq:2,budget=14bits,keys=token");
  }
}
