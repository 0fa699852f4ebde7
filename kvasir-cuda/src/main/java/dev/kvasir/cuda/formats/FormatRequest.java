package dev.kvasir.cuda.formats;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.profile.Profile;
import java.util.Optional;

/**
 * A cache that needs a page format.
 *
 * @param text the spec's text, parsed
 * @param context profile and context limit of the cache
 * @param model the model of the cache; empty if only sizes are needed
 * @param isEstimate whether settings may be missing from the profile
 */
public record FormatRequest(
    CacheSpec spec,
    SpecText text,
    CacheContext context,
    Optional<LoadedModel> model,
    boolean isEstimate) {
  /**
   * A model on a device.
   *
   * @param tables what its caches share; closed with the model
   */
  public record LoadedModel(ModelConfig config, ModelTables tables) {}

  /** Requests the format of a cache that is going to be used. */
  public static FormatRequest forCache(
      CacheSpec spec, Optional<Profile> profile, Optional<LoadedModel> model) {
    return forCache(spec, contextOf(profile), model);
  }

  /** Requests the format of a cache that is going to be used, whose context limit is known. */
  public static FormatRequest forCache(
      CacheSpec spec, CacheContext context, Optional<LoadedModel> model) {
    return new FormatRequest(spec, spec.pageKeys(), context, model, false);
  }

  public static FormatRequest forEstimate(
      CacheSpec spec, Optional<Profile> profile, Optional<LoadedModel> model) {
    return forEstimate(spec, contextOf(profile), model);
  }

  public static FormatRequest forEstimate(
      CacheSpec spec, CacheContext context, Optional<LoadedModel> model) {
    return new FormatRequest(spec, spec.pageKeys(), context, model, true);
  }

  /** Returns a context that knows the profile alone. */
  private static CacheContext contextOf(Optional<Profile> profile) {
    return CacheContext.unknown().withProfile(profile);
  }

  /** Returns the profile of the cache. */
  public Optional<Profile> profile() {
    return context.profile();
  }

  /** Rejects widths other than 2 or 4 bits for both keys and values. */
  public void requireUniformWidths(UniformOptions options) {
    if (options.keyBits() != options.valueBits()
        || options.keyBits() != 2 && options.keyBits() != 4) {
      throw unsupported(
          "has %d bits for keys and %d for values; on a device expected 2 or 4 for both"
              .formatted(options.keyBits(), options.valueBits()));
    }
  }

  public void requireExactOperands(OperandPrecision operandPrecision) {
    if (operandPrecision != OperandPrecision.EXACT) {
      throw unsupported(
          "has operands=%s; on a device expected 15".formatted(text.value(OperandPrecision.KEY)));
    }
  }

  /** Returns the exception for a cache without kernels. */
  public DeviceException unsupported(String reason) {
    return new DeviceException("the cache '%s' %s".formatted(spec, reason));
  }
}
