package dev.kvasir.codec.toy;

import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodExample.Trait;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.spi.QuantizationMethod;
import java.util.EnumSet;
import java.util.List;

/**
 * A minimal method: the sign of each channel, and a magnitude for each token. It is part of the
 * tests and shows what a new method requires: this package, and a line in {@code
 * META-INF/services/dev.kvasir.spi.QuantizationMethod}.
 */
public final class ToyMethod implements QuantizationMethod {
  @Override
  public List<String> names() {
    return List.of("toy");
  }

  @Override
  public String syntax() {
    return "toy";
  }

  @Override
  public List<String> help() {
    return List.of("toy: signs alone; window, sinks");
  }

  @Override
  public QuantizationConfig parse(SpecText spec) {
    return ToyConfig.of(spec);
  }

  @Override
  public List<MethodExample> examples() {
    return MethodExample.of(
        EnumSet.of(Trait.COPIES_MAPPED_PAGES), "toy", "toy,window=0,sinks=5", "toy,sinks=5");
  }
}
