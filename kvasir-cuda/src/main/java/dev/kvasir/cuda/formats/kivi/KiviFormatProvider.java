package dev.kvasir.cuda.formats.kivi;

import dev.kvasir.codec.LayerWidths;
import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.FormatRequest;
import dev.kvasir.cuda.formats.PageFormatProvider;

/** Provides pages of KIVI. */
public final class KiviFormatProvider implements PageFormatProvider {
  @Override
  public String method() {
    return "kivi";
  }

  @Override
  public DeviceCacheConfig cacheConfig(FormatRequest request) {
    UniformOptions options = UniformOptions.of(request.text(), "widths");
    request.requireExactOperands(options.operandPrecision());
    boolean areSame =
        request.text().choice("widths", LayerWidths.Source.SAME) == LayerWidths.Source.SAME;
    KiviFormat format =
        areSame
            ? new KiviFormat(options.keyBits(), options.valueBits())
            : CodecWidths.format(request);
    return new DeviceCacheConfig(format, options.group(), options.window(), options.sinks());
  }
}
