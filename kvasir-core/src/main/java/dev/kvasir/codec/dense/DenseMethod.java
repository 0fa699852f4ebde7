package dev.kvasir.codec.dense;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.QuantizationMethod;
import dev.kvasir.codec.SpecText;
import dev.kvasir.kernel.DenseMatrix.Precision;
import java.util.List;
import java.util.Optional;

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

  /** The configuration of a cache of floating-point numbers, without quantization. */
  private record DenseConfig(Precision precision) implements QuantizationConfig {
    static DenseConfig of(SpecText spec) {
      spec.requireNameOnly();
      return new DenseConfig(
          switch (spec.name()) {
            case "bf16" -> Precision.BF16;
            case "fp32" -> Precision.F32;
            default -> Precision.F16;
          });
    }

    @Override
    public boolean supportsValuesInKeys() {
      return true;
    }

    @Override
    public CacheConfig cacheConfig(CacheShape shape) {
      return new CacheConfig(precision, 0, 0, Optional.empty());
    }
  }
}
