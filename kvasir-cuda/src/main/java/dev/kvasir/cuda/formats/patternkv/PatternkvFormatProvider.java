package dev.kvasir.cuda.formats.patternkv;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.patternkv.PatternkvCodec;
import dev.kvasir.codec.patternkv.PatternkvConfig;
import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.FormatRequest;
import dev.kvasir.cuda.formats.PageFormatProvider;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.model.ModelConfig;
import java.util.Optional;

/** Provides pages of PatternKV. */
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
    return new DeviceCacheConfig(
        format(request, config), options.group(), options.window(), options.sinks());
  }

  private static PatternkvFormat format(FormatRequest request, PatternkvConfig config) {
    UniformOptions options = config.options();
    int sides =
        (config.keyPatterns() ? PatternkvFormat.KEYS : 0)
            | (config.valuePatterns() ? PatternkvFormat.VALUES : 0);
    Optional<ModelConfig> model = request.model().map(FormatRequest.LoadedModel::config);
    Optional<Rotation> rotation = model.flatMap(known -> rotation(request, known));
    boolean rotates =
        config.keyPatterns()
            && (model.isPresent() ? rotation.isPresent() : config.rotatesPatterns());
    PatternkvFormat format =
        new PatternkvFormat(
            options.keyBits(),
            config.patterns(),
            config.newPatterns(),
            config.thresholds() ? config.alpha() : 1,
            config.choice(),
            sides,
            rotates,
            Optional.empty());
    return rotation
        .map(rope -> format.withRotation(rope, options.sinks(), model.get().contextLength()))
        .orElse(format);
  }

  /** Returns the rotation of key patterns that the host would use for a model. */
  private static Optional<Rotation> rotation(FormatRequest request, ModelConfig model) {
    CacheConfig config =
        request
            .spec()
            .config()
            .cacheConfig(
                model.cacheShape(), request.context().withRotation(model.sharedRotation()));
    return config
        .codec()
        .map(PatternkvCodec.class::cast)
        .flatMap(PatternkvCodec::keys)
        .flatMap(options -> options.rotation(0)); // those of all layers are alike
  }
}
