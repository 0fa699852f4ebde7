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
 * The configuration of a KV cache on a device.
 *
 * @param format format of tokens outside the residual window
 * @param group group size of a scale: tokens per key channel, channels per token's value
 * @param window residual window: recent tokens that stay fp16
 * @param sinks attention sinks: first tokens, which always stay fp16
 */
public record DeviceCacheConfig(PageFormat format, int group, int window, int sinks) {
  public static final DeviceCacheConfig FP16 = new DeviceCacheConfig(PageFormat.FP16, 0, 0, 0);

  /** Returns the number of fp16 pages for sinks. */
  int sinkPages() {
    return Math.ceilDiv(sinks, Fp16Page.TOKENS);
  }

  /** Returns the configuration of a cache whose profile is not known yet. */
  public static DeviceCacheConfig of(CacheSpec spec) {
    return estimated(spec, Optional.empty(), any -> null);
  }

  /**
   * Returns the configuration of a cache.
   *
   * @param profile profile of the cache
   * @param codebooks supplies the codebooks of a CommVQ cache
   * @throws DeviceException if there are no kernels for the cache
   */
  static DeviceCacheConfig of(
      CacheSpec spec, Optional<Profile> profile, Function<CacheSpec, CommvqCodebooks> codebooks) {
    return of(spec, profile, codebooks, plan -> plan.requireThresholds(contextWith(profile)));
  }

  /** Returns the configuration for estimates, where thresholds may be missing from the profile. */
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
        rejectSharedKeys(spec, text);
        yield FP16;
      }
      case "kivi" -> {
        rejectSharedKeys(spec, text);
        yield kivi(spec, text);
      }
      case "commvq" -> {
        rejectSharedKeys(spec, text);
        yield commvq(spec, text, codebooks);
      }
      case "pmkvq" -> {
        rejectSharedKeys(spec, text);
        yield pmkvq(spec, text, profile);
      }
      case "patternkv" -> {
        rejectSharedKeys(spec, text);
        yield patternkv(spec, text);
      }
      case "mixkvq" -> {
        rejectSharedKeys(spec, text);
        yield mixkvq(spec, text, thresholds);
      }
      default ->
          throw new DeviceException(
              "the cache '%s' is not supported on a device; expected fp16, kivi, commvq, mixkvq, patternkv or pmkvq there, or --device cpu"
                  .formatted(spec));
    };
  }

  /** Rejects keys that all methods share. */
  private static void rejectSharedKeys(CacheSpec spec, SpecText text) {
    if (text.has(LatentQuantizationConfig.KEY)) {
      throw new DeviceException(
          "the cache '%s' has a width for rotary channels of latent keys; a device has no latent keys"
              .formatted(spec));
    }
    if (text.has(ColdBlockConfig.KEY)) {
      throw new DeviceException(
          "the cache '%s' stores cold blocks with fewer bits; pages of a device are not stored"
              .formatted(spec));
    }
  }

  private static DeviceCacheConfig kivi(CacheSpec spec, SpecText text) {
    UniformOptions options = UniformOptions.of(text, "widths");
    rejectOtherWidths(spec, options);
    if (text.choice("widths", LayerWidths.Source.SAME) != LayerWidths.Source.SAME) {
      throw new DeviceException(
          "the cache '%s' has widths of a profile; on a device expected the same in all layers"
              .formatted(spec));
    }
    rejectFastOperands(spec, text, options.operandPrecision());
    PageFormat format = new KiviFormat(options.keyBits());
    return new DeviceCacheConfig(format, options.group(), options.window(), options.sinks());
  }

  /** Ignores how keys are read: all variants read the same keys. */
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
    rejectOtherWidths(spec, options);
    rejectFastOperands(spec, text, options.operandPrecision());
    if (plan.rotatesPatterns()) {
      throw new DeviceException(
          "the cache '%s' has key patterns that rotate; on a device expected rope=static"
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
    rejectFastOperands(spec, text, plan.operandPrecision());
    if (plan.keyScales() != KeyScaleAxis.CHANNEL
        || plan.shift() != RightShift.EQUIVALENT
        || plan.initialWidth() != InitialWidth.NARROW
        || plan.isPooled()) {
      throw new DeviceException(
          "the cache '%s' has keys by token, another shift, pages that start wide or the pool's budget; on a device expected none of these"
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
    rejectFastOperands(spec, text, plan.operandPrecision());
    PageFormat format =
        new MixkvqFormat(
            thresholds.apply(plan),
            plan.salience(),
            plan.queries(),
            plan.residual() / (Fp16Page.BLOCK_PAGES * Fp16Page.TOKENS));
    return new DeviceCacheConfig(format, plan.group(), plan.window(), plan.sinks());
  }

  private static void rejectOtherWidths(CacheSpec spec, UniformOptions options) {
    if (options.keyBits() != options.valueBits()
        || options.keyBits() != 2 && options.keyBits() != 4) {
      throw new DeviceException(
          "the cache '%s' has %d bits for keys and %d for values; on a device expected 2 or 4 for both"
              .formatted(spec, options.keyBits(), options.valueBits()));
    }
  }

  private static void rejectFastOperands(
      CacheSpec spec, SpecText text, OperandPrecision operandPrecision) {
    if (operandPrecision != OperandPrecision.EXACT) {
      throw new DeviceException(
          "the cache '%s' has lookup=%s; on a device expected exact"
              .formatted(spec, text.value("lookup")));
    }
  }
}
