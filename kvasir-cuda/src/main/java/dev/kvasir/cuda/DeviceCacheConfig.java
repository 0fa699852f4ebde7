package dev.kvasir.cuda;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.ColdBlockConfig;
import dev.kvasir.codec.LayerWidths;
import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.commvq.CommvqConfig;
import dev.kvasir.codec.latent.LatentQuantizationConfig;
import dev.kvasir.codec.mixkvq.MixkvqConfig;
import dev.kvasir.codec.mixkvq.Thresholds;
import dev.kvasir.codec.patternkv.PatternChoice;
import dev.kvasir.codec.patternkv.PatternkvConfig;
import dev.kvasir.codec.pmkvq.InitialWidth;
import dev.kvasir.codec.pmkvq.KeyScaleAxis;
import dev.kvasir.codec.pmkvq.PmkvqConfig;
import dev.kvasir.codec.pmkvq.RightShift;
import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.profile.Profile;
import java.util.Optional;
import java.util.function.Function;

/**
 * How the sequences of a kind of cache lie on a device.
 *
 * @param format of older tokens
 * @param group numbers that share a scale: tokens of a key's channel, channels of a token's value
 * @param window of tokens that stay halves
 * @param sinks the first tokens, which stay halves for good
 */
public record DeviceCacheConfig(PageFormat format, int group, int window, int sinks) {
  public static final DeviceCacheConfig FP16 = new DeviceCacheConfig(PageFormat.FP16, 0, 0, 0);

  /** Pages of halves that sinks take. */
  int sinkPages() {
    return Math.ceilDiv(sinks, Fp16Page.TOKENS);
  }

  /** The same of a cache whose profile is not known yet. */
  public static DeviceCacheConfig of(CacheSpec spec) {
    return estimated(spec, Optional.empty(), any -> null);
  }

  /**
   * @param profile that the cache was given
   * @param codebooks of a cache whose pages are made of their rows
   * @throws DeviceException for a kind that there are no kernels for
   */
  static DeviceCacheConfig of(
      CacheSpec spec, Optional<Profile> profile, Function<CacheSpec, CommvqCodebooks> codebooks) {
    return of(spec, profile, codebooks, plan -> plan.requireThresholds(contextWith(profile)));
  }

  /** The same where thresholds that a profile lacks do not matter yet. */
  static DeviceCacheConfig estimated(
      CacheSpec spec, Optional<Profile> profile, Function<CacheSpec, CommvqCodebooks> codebooks) {
    return of(
        spec,
        profile,
        codebooks,
        plan -> plan.thresholds(contextWith(profile)).orElse(Thresholds.NONE));
  }

  private static CacheContext contextWith(Optional<Profile> profile) {
    return CacheContext.unknown().withProfile(profile);
  }

  private static DeviceCacheConfig of(
      CacheSpec spec,
      Optional<Profile> profile,
      Function<CacheSpec, CommvqCodebooks> codebooks,
      Function<MixkvqConfig, Thresholds> thresholds) {
    SpecText text = new SpecText(spec.text());
    return switch (text.name()) {
      case "fp16" -> {
        refuseKeysOfAll(spec, text);
        yield FP16;
      }
      case "kivi" -> {
        refuseKeysOfAll(spec, text);
        yield kivi(spec, text);
      }
      case "commvq" -> {
        refuseKeysOfAll(spec, text);
        yield commvq(spec, text, codebooks);
      }
      case "pmkvq" -> {
        refuseKeysOfAll(spec, text);
        yield pmkvq(spec, text, profile);
      }
      case "patternkv" -> {
        refuseKeysOfAll(spec, text);
        yield patternkv(spec, text);
      }
      case "mixkvq" -> {
        refuseKeysOfAll(spec, text);
        yield mixkvq(spec, text, thresholds);
      }
      default ->
          throw new DeviceException(
              "the cache '%s' cannot lie on a device; expected fp16, kivi, commvq, mixkvq, patternkv or pmkvq there, or --device cpu"
                  .formatted(spec));
    };
  }

  /** Those that methods have beside their own. */
  private static void refuseKeysOfAll(CacheSpec spec, SpecText text) {
    if (text.has(LatentQuantizationConfig.KEY)) {
      throw new DeviceException(
          "the cache '%s' has a width for channels that turn behind a latent; on a device keys have none"
              .formatted(spec));
    }
    if (text.has(ColdBlockConfig.KEY)) {
      throw new DeviceException(
          "the cache '%s' stores old pages with fewer bits; pages of a device are not stored"
              .formatted(spec));
    }
  }

  private static DeviceCacheConfig kivi(CacheSpec spec, SpecText text) {
    UniformOptions options = UniformOptions.of(text, "widths");
    refuseOtherWidths(spec, options);
    if (text.choice("widths", LayerWidths.Source.SAME) != LayerWidths.Source.SAME) {
      throw new DeviceException(
          "the cache '%s' has widths of a profile; on a device expected the same in all layers"
              .formatted(spec));
    }
    refuseFastLookups(spec, text, options.operandPrecision());
    PageFormat format = options.keyBits() == 2 ? PageFormat.KIVI2 : PageFormat.KIVI4;
    return new DeviceCacheConfig(format, options.group(), options.window(), options.sinks());
  }

  /** How keys are read is the device's business: all ways see the same ones. */
  private static DeviceCacheConfig commvq(
      CacheSpec spec, SpecText text, Function<CacheSpec, CommvqCodebooks> codebooks) {
    CommvqConfig plan = CommvqConfig.of(text);
    if (!CommvqFormat.BITS.contains(plan.bits())) {
      throw new DeviceException(
          "the cache '%s' has codebooks of %d bits; on a device expected 1 or 2"
              .formatted(spec, plan.bits()));
    }
    if (plan.beam() > CommvqCodebooks.MAX_BEAM) {
      throw new DeviceException(
          "the cache '%s' has a beam of %d; on a device expected at most %d"
              .formatted(spec, plan.beam(), CommvqCodebooks.MAX_BEAM));
    }
    CommvqFormat format = new CommvqFormat(plan.bits(), codebooks.apply(spec));
    return new DeviceCacheConfig(format, 0, plan.window(), plan.sinks());
  }

  private static DeviceCacheConfig patternkv(CacheSpec spec, SpecText text) {
    PatternkvConfig plan = PatternkvConfig.of(text);
    UniformOptions options = plan.options();
    refuseOtherWidths(spec, options);
    refuseFastLookups(spec, text, options.operandPrecision());
    if (plan.rotatesPatterns()) {
      throw new DeviceException(
          "the cache '%s' has patterns of keys that turn; on a device expected rope=static"
              .formatted(spec));
    }
    if (plan.choice() != PatternChoice.RANGE || !plan.keyPatterns() || !plan.valuePatterns()) {
      throw new DeviceException(
          "the cache '%s' has patterns of one side, or chosen otherwise than by range; on a device expected both, by range"
              .formatted(spec));
    }
    PageFormat format =
        new PatternkvFormat(
            options.keyBits(),
            plan.patterns(),
            plan.newPatterns(),
            plan.thresholds() ? plan.alpha() : 1);
    return new DeviceCacheConfig(format, options.group(), options.window(), options.sinks());
  }

  private static DeviceCacheConfig pmkvq(CacheSpec spec, SpecText text, Optional<Profile> profile) {
    PmkvqConfig plan = PmkvqConfig.of(text);
    refuseFastLookups(spec, text, plan.operandPrecision());
    if (plan.keyScales() != KeyScaleAxis.CHANNEL
        || plan.shift() != RightShift.EQUIVALENT
        || plan.initialWidth() != InitialWidth.NARROW
        || plan.isPooled()) {
      throw new DeviceException(
          "the cache '%s' has keys by token, another shift, pages that are born wide or the pool's budget; on a device expected none of these"
              .formatted(spec));
    }
    if (plan.usesProfileWidths(profile)) {
      throw new DeviceException(
          "the cache '%s' has widths of a profile; on a device expected widths=same"
              .formatted(spec));
    }
    return new DeviceCacheConfig(new PmkvqFormat(), 0, plan.window(), plan.sinks());
  }

  private static DeviceCacheConfig mixkvq(
      CacheSpec spec, SpecText text, Function<MixkvqConfig, Thresholds> thresholds) {
    MixkvqConfig plan = MixkvqConfig.of(text);
    refuseFastLookups(spec, text, plan.operandPrecision());
    PageFormat format =
        new MixkvqFormat(
            thresholds.apply(plan),
            plan.salience(),
            plan.queries(),
            plan.residual() / (SequencePages.BLOCK_PAGES * Fp16Page.TOKENS));
    return new DeviceCacheConfig(format, plan.group(), plan.window(), plan.sinks());
  }

  private static void refuseOtherWidths(CacheSpec spec, UniformOptions options) {
    if (options.keyBits() != options.valueBits()
        || options.keyBits() != 2 && options.keyBits() != 4) {
      throw new DeviceException(
          "the cache '%s' has %d bits for keys and %d for values; on a device expected 2 or 4 for both"
              .formatted(spec, options.keyBits(), options.valueBits()));
    }
  }

  private static void refuseFastLookups(
      CacheSpec spec, SpecText text, OperandPrecision operandPrecision) {
    if (operandPrecision != OperandPrecision.EXACT) {
      throw new DeviceException(
          "the cache '%s' has lookup=%s; on a device expected exact"
              .formatted(spec, text.value("lookup")));
    }
  }
}
