package dev.kvasir.cuda.formats.mixkvq;

import dev.kvasir.codec.mixkvq.MixkvqConfig;
import dev.kvasir.codec.mixkvq.Thresholds;
import dev.kvasir.codec.mixkvq.TierScope;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.FormatRequest;
import dev.kvasir.cuda.formats.PageFormat;
import dev.kvasir.cuda.formats.PageFormatProvider;
import dev.kvasir.cuda.memory.Fp16Page;

/** Provides pages of MixKVQ. */
public final class MixkvqFormatProvider implements PageFormatProvider {
  @Override
  public String method() {
    return "mixkvq";
  }

  @Override
  public DeviceCacheConfig cacheConfig(FormatRequest request) {
    MixkvqConfig config = MixkvqConfig.of(request.text());
    request.requireExactOperands(config.operandPrecision());
    int blockTokens = Fp16Page.BLOCK_PAGES * Fp16Page.TOKENS;
    if (config.residual() < blockTokens) {
      throw request.unsupported(
          "has residual=%d; on a device expected at least %d"
              .formatted(config.residual(), blockTokens));
    }
    if (config.tiers() == TierScope.PROMPT) {
      throw request.unsupported("has tiers=prompt; on a device expected tiers=residual");
    }
    Thresholds thresholds =
        request.isEstimate()
            ? config.thresholds(request.context()).orElse(Thresholds.NONE)
            : config.requireThresholds(request.context());
    PageFormat format =
        new MixkvqFormat(
            thresholds, config.salience(), config.queries(), config.residual() / blockTokens);
    return new DeviceCacheConfig(format, config.group(), config.window(), config.sinks());
  }
}
