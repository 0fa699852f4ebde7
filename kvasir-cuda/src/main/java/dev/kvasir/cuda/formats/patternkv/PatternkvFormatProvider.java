package dev.kvasir.cuda.formats.patternkv;

import dev.kvasir.codec.patternkv.PatternChoice;
import dev.kvasir.codec.patternkv.PatternkvConfig;
import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.FormatRequest;
import dev.kvasir.cuda.formats.PageFormat;
import dev.kvasir.cuda.formats.PageFormatProvider;

/** Provides pages of PatternKV with static patterns of keys and values, chosen by range. */
public final class PatternkvFormatProvider implements PageFormatProvider {
  @Override
  public String method() {
    return "patternkv";
  }

  @Override
  public DeviceCacheConfig cacheConfig(FormatRequest request) {
    PatternkvConfig config = PatternkvConfig.of(request.text());
    UniformOptions options = config.options();
    request.requireUniformWidths(options);
    request.requireExactOperands(options.operandPrecision());
    if (config.rotatesPatterns()) {
      throw request.unsupported("has key patterns that rotate; on a device expected rope=static");
    }
    if (config.choice() != PatternChoice.RANGE
        || !config.keyPatterns()
        || !config.valuePatterns()) {
      throw request.unsupported(
          "has patterns of one side, or chosen otherwise than by range; on a device expected both, by range");
    }
    PageFormat format =
        new PatternkvFormat(
            options.keyBits(),
            config.patterns(),
            config.newPatterns(),
            config.thresholds() ? config.alpha() : 1);
    return new DeviceCacheConfig(format, options.group(), options.window(), options.sinks());
  }
}
