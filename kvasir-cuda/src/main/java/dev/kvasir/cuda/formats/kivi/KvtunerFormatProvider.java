package dev.kvasir.cuda.formats.kivi;

import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.FormatRequest;
import dev.kvasir.cuda.formats.PageFormatProvider;

/** Provides pages of KVTuner, which are KIVI's with the widths of each layer. */
public final class KvtunerFormatProvider implements PageFormatProvider {
  @Override
  public String method() {
    return "kvtuner";
  }

  @Override
  public DeviceCacheConfig cacheConfig(FormatRequest request) {
    UniformOptions options = UniformOptions.of(request.text(), 0, 0); // bits are those of layers
    request.requireExactOperands(options.operandPrecision());
    return new DeviceCacheConfig(
        CodecWidths.format(request), options.group(), options.window(), options.sinks());
  }
}
