package dev.kvasir.codec.dense;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.Method;
import dev.kvasir.codec.SpecText;
import java.util.List;

/** Keys and values as floating-point numbers, not packed. */
public final class DenseMethod implements Method {
  @Override
  public List<String> names() {
    return List.of("fp16", "bf16", "fp32");
  }

  @Override
  public String typed() {
    return "fp16, bf16, fp32";
  }

  @Override
  public List<String> help() {
    return List.of("fp16, bf16, fp32: not packed");
  }

  @Override
  public CachePlan plan(SpecText spec) {
    return DensePlan.of(spec);
  }
}
