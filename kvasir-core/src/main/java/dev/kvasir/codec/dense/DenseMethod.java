package dev.kvasir.codec.dense;

import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.spi.QuantizationMethod;
import java.util.List;

/** Keys and values as floating-point numbers, without quantization. */
public final class DenseMethod implements QuantizationMethod {
  @Override
  public List<String> names() {
    return List.of("fp16", "bf16", "fp32");
  }

  @Override
  public String syntax() {
    return "fp16, bf16, fp32";
  }

  @Override
  public List<String> help() {
    return List.of("fp16, bf16, fp32: not quantized");
  }

  @Override
  public QuantizationConfig parse(SpecText spec) {
    return DenseConfig.of(spec);
  }

  @Override
  public List<MethodExample> examples() {
    return MethodExample.of("fp32", "fp16", "bf16");
  }
}
