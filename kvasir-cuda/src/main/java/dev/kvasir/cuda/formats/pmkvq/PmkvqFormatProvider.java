package dev.kvasir.cuda.formats.pmkvq;

import dev.kvasir.codec.pmkvq.InitialWidth;
import dev.kvasir.codec.pmkvq.KeyScaleAxis;
import dev.kvasir.codec.pmkvq.PmkvqConfig;
import dev.kvasir.codec.pmkvq.RightShift;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.FormatRequest;
import dev.kvasir.cuda.formats.PageFormatProvider;

/** Provides pages of PM-KVQ with the same widths in all layers. */
public final class PmkvqFormatProvider implements PageFormatProvider {
  @Override
  public String method() {
    return "pmkvq";
  }

  @Override
  public DeviceCacheConfig cacheConfig(FormatRequest request) {
    PmkvqConfig config = PmkvqConfig.of(request.text());
    request.requireExactOperands(config.operandPrecision());
    if (config.keyScales() != KeyScaleAxis.CHANNEL
        || config.shift() != RightShift.EQUIVALENT
        || config.initialWidth() != InitialWidth.NARROW
        || config.isPooled()) {
      throw request.unsupported(
          "has keys by token, another shift, pages that start wide or the pool's budget; on a device expected none of these");
    }
    if (config.usesProfileWidths(request.profile())) {
      throw request.unsupported("has widths of a profile; on a device expected widths=same");
    }
    return new DeviceCacheConfig(new PmkvqFormat(), 0, config.window(), config.sinks());
  }
}
