package dev.kvasir.cuda;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.LayerWidths;
import dev.kvasir.codec.Lookups;
import dev.kvasir.codec.OldPagesPlan;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.commvq.CommvqPlan;
import dev.kvasir.codec.latent.LatentPlan;
import dev.kvasir.codec.mixkvq.MixkvqPlan;
import dev.kvasir.codec.mixkvq.Thresholds;
import dev.kvasir.codec.patternkv.PatternChoice;
import dev.kvasir.codec.patternkv.PatternkvPlan;
import dev.kvasir.codec.pmkvq.Birth;
import dev.kvasir.codec.pmkvq.KeyScales;
import dev.kvasir.codec.pmkvq.PmkvqPlan;
import dev.kvasir.codec.pmkvq.RightShift;
import dev.kvasir.codec.uniform.UniformKeys;
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
public record PageKind(PageFormat format, int group, int window, int sinks) {
  public static final PageKind FP16 = new PageKind(PageFormat.FP16, 0, 0, 0);

  /** Pages of halves that sinks take. */
  int sinkPages() {
    return Math.ceilDiv(sinks, HalfPage.TOKENS);
  }

  /** The same of a cache whose profile is not known yet. */
  public static PageKind of(CacheSpec spec) {
    return foretold(spec, Optional.empty(), any -> null);
  }

  /**
   * @param profile that the cache was given
   * @param codebooks of a cache whose pages are made of their rows
   * @throws DeviceRefusal for a kind that there are no kernels for
   */
  static PageKind of(
      CacheSpec spec, Optional<Profile> profile, Function<CacheSpec, CommvqModel> codebooks) {
    return of(spec, profile, codebooks, plan -> plan.required(hostWith(profile)));
  }

  /** The same where thresholds that a profile lacks do not matter yet. */
  static PageKind foretold(
      CacheSpec spec, Optional<Profile> profile, Function<CacheSpec, CommvqModel> codebooks) {
    return of(
        spec,
        profile,
        codebooks,
        plan -> plan.thresholds(hostWith(profile)).orElse(Thresholds.NONE));
  }

  private static CacheHost hostWith(Optional<Profile> profile) {
    return CacheHost.unknown().withProfile(profile);
  }

  private static PageKind of(
      CacheSpec spec,
      Optional<Profile> profile,
      Function<CacheSpec, CommvqModel> codebooks,
      Function<MixkvqPlan, Thresholds> thresholds) {
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
          throw new DeviceRefusal(
              "the cache '%s' cannot lie on a device; expected fp16, kivi, commvq, mixkvq, patternkv or pmkvq there, or --device cpu"
                  .formatted(spec));
    };
  }

  /** Those that methods have beside their own. */
  private static void refuseKeysOfAll(CacheSpec spec, SpecText text) {
    if (text.has(LatentPlan.KEY)) {
      throw new DeviceRefusal(
          "the cache '%s' has a width for channels that turn behind a latent; on a device keys have none"
              .formatted(spec));
    }
    if (text.has(OldPagesPlan.KEY)) {
      throw new DeviceRefusal(
          "the cache '%s' stores old pages with fewer bits; pages of a device are not stored"
              .formatted(spec));
    }
  }

  private static PageKind kivi(CacheSpec spec, SpecText text) {
    UniformKeys keys = UniformKeys.of(text, "widths");
    refuseOtherWidths(spec, keys);
    if (text.choice("widths", LayerWidths.Source.SAME) != LayerWidths.Source.SAME) {
      throw new DeviceRefusal(
          "the cache '%s' has widths of a profile; on a device expected the same in all layers"
              .formatted(spec));
    }
    refuseFastLookups(spec, text, keys.lookups());
    PageFormat format = keys.keyBits() == 2 ? PageFormat.KIVI2 : PageFormat.KIVI4;
    return new PageKind(format, keys.group(), keys.window(), keys.sinks());
  }

  /** How keys are read is the device's business: all ways see the same ones. */
  private static PageKind commvq(
      CacheSpec spec, SpecText text, Function<CacheSpec, CommvqModel> codebooks) {
    CommvqPlan plan = CommvqPlan.of(text);
    if (!CommvqFormat.BITS.contains(plan.bits())) {
      throw new DeviceRefusal(
          "the cache '%s' has codebooks of %d bits; on a device expected 1 or 2"
              .formatted(spec, plan.bits()));
    }
    if (plan.beam() > CommvqModel.MOST_BEAM) {
      throw new DeviceRefusal(
          "the cache '%s' has a beam of %d; on a device expected at most %d"
              .formatted(spec, plan.beam(), CommvqModel.MOST_BEAM));
    }
    CommvqFormat format = new CommvqFormat(plan.bits(), codebooks.apply(spec));
    return new PageKind(format, 0, plan.window(), plan.sinks());
  }

  private static PageKind patternkv(CacheSpec spec, SpecText text) {
    PatternkvPlan plan = PatternkvPlan.of(text);
    UniformKeys keys = plan.keys();
    refuseOtherWidths(spec, keys);
    refuseFastLookups(spec, text, keys.lookups());
    if (plan.turns()) {
      throw new DeviceRefusal(
          "the cache '%s' has patterns of keys that turn; on a device expected rope=static"
              .formatted(spec));
    }
    if (plan.choice() != PatternChoice.RANGE || !plan.keyPatterns() || !plan.valuePatterns()) {
      throw new DeviceRefusal(
          "the cache '%s' has patterns of one side, or chosen otherwise than by range; on a device expected both, by range"
              .formatted(spec));
    }
    PageFormat format =
        new PatternFormat(
            keys.keyBits(),
            plan.patterns(),
            plan.newPatterns(),
            plan.thresholds() ? plan.alpha() : 1);
    return new PageKind(format, keys.group(), keys.window(), keys.sinks());
  }

  private static PageKind pmkvq(CacheSpec spec, SpecText text, Optional<Profile> profile) {
    PmkvqPlan plan = PmkvqPlan.of(text);
    refuseFastLookups(spec, text, plan.lookups());
    if (plan.keyScales() != KeyScales.CHANNEL
        || plan.shift() != RightShift.EQUIVALENT
        || plan.birth() != Birth.NARROW
        || plan.isPooled()) {
      throw new DeviceRefusal(
          "the cache '%s' has keys by token, another shift, pages that are born wide or the pool's budget; on a device expected none of these"
              .formatted(spec));
    }
    if (plan.hasWidthsOf(profile)) {
      throw new DeviceRefusal(
          "the cache '%s' has widths of a profile; on a device expected widths=same"
              .formatted(spec));
    }
    return new PageKind(new WidthFormat(), 0, plan.window(), plan.sinks());
  }

  private static PageKind mixkvq(
      CacheSpec spec, SpecText text, Function<MixkvqPlan, Thresholds> thresholds) {
    MixkvqPlan plan = MixkvqPlan.of(text);
    refuseFastLookups(spec, text, plan.lookups());
    PageFormat format =
        new MixedFormat(
            thresholds.apply(plan),
            plan.salience(),
            plan.queries(),
            plan.residual() / (SequencePages.BLOCK_PAGES * HalfPage.TOKENS));
    return new PageKind(format, plan.group(), plan.window(), plan.sinks());
  }

  private static void refuseOtherWidths(CacheSpec spec, UniformKeys keys) {
    if (keys.keyBits() != keys.valueBits() || keys.keyBits() != 2 && keys.keyBits() != 4) {
      throw new DeviceRefusal(
          "the cache '%s' has %d bits for keys and %d for values; on a device expected 2 or 4 for both"
              .formatted(spec, keys.keyBits(), keys.valueBits()));
    }
  }

  private static void refuseFastLookups(CacheSpec spec, SpecText text, Lookups lookups) {
    if (lookups != Lookups.EXACT) {
      throw new DeviceRefusal(
          "the cache '%s' has lookup=%s; on a device expected exact"
              .formatted(spec, text.value("lookup")));
    }
  }
}
