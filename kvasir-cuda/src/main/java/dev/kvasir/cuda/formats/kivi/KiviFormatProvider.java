package dev.kvasir.cuda.formats.kivi;

import dev.kvasir.codec.LayerWidths;
import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.FormatRequest;
import dev.kvasir.cuda.formats.PageFormatProvider;

/** Provides pages of KIVI with 2 or 4 bits in all layers. */
public final class KiviFormatProvider implements PageFormatProvider {
  @Override
  public String method() {
    return "kivi";
  }

  @Override
  public DeviceCacheConfig cacheConfig(FormatRequest request) {
    UniformOptions options = UniformOptions.of(request.text(), "widths");
    request.requireUniformWidths(options);
    if (request.text().choice("widths", LayerWidths.Source.SAME) != LayerWidths.Source.SAME) {
      throw request.unsupported(
          "has widths of a profile; on a device expected the same in all layers");
    }
    request.requireExactOperands(options.operandPrecision());
    return new DeviceCacheConfig(
        new KiviFormat(options.keyBits()), options.group(), options.window(), options.sinks());
  }
}
