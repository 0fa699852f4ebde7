package dev.kvasir.cuda.formats;

/** Provides unquantized pages. */
public final class Fp16FormatProvider implements PageFormatProvider {
  @Override
  public String method() {
    return "fp16";
  }

  @Override
  public DeviceCacheConfig cacheConfig(FormatRequest request) {
    return DeviceCacheConfig.FP16;
  }
}
