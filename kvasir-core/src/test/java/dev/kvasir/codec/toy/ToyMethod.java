package dev.kvasir.codec.toy;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.Method;
import dev.kvasir.codec.SpecText;
import java.util.List;

/**
 * The least that a method can be: the signs of channels, and how large they are for each token. It
 * lives in the sources of tests and shows what a further method touches: this package, and a line
 * in {@code META-INF/services/dev.kvasir.codec.Method}.
 */
public final class ToyMethod implements Method {
  @Override
  public List<String> names() {
    return List.of("toy");
  }

  @Override
  public String typed() {
    return "toy";
  }

  @Override
  public List<String> help() {
    return List.of("toy: signs alone; window, sinks");
  }

  @Override
  public CachePlan plan(SpecText spec) {
    return ToyPlan.of(spec);
  }
}
