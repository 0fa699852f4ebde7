package dev.kvasir.cache;

import dev.kvasir.KvCacheSpec;
import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ColdBlockConfig;
import dev.kvasir.codec.MethodRegistry;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.PaperPreset;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.latent.LatentQuantizationConfig;
import dev.kvasir.codec.latent.RotaryWidth;
import dev.kvasir.codec.mixed.MixedHeadsConfig;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.spi.QuantizationMethod;
import java.util.Locale;
import java.util.Optional;

/**
 * A parsed cache specification: {@code name[:bits][,key=value...]}.
 *
 * @param text the specification as typed, with the settings that {@code as=paper} stands for
 * @param config the quantization that the text stands for
 * @param rotaryWidth bits of rotary channels behind a latent, if given
 * @param prefill when prompts are quantized, if given; options of a session override it
 */
public record CacheSpec(
    String text,
    QuantizationMethod method,
    QuantizationConfig config,
    Optional<RotaryWidth> rotaryWidth,
    Optional<Prefill> prefill)
    implements KvCacheSpec {
  /** Half precision. */
  public static final CacheSpec DEFAULT = parse("fp16");

  /** The spec key for when prompts are quantized, accepted by every method. */
  private static final String PREFILL = "prefill";

  public static CacheSpec parse(String text) {
    SpecText typed = new SpecText(text);
    QuantizationMethod method = MethodRegistry.of(typed);
    SpecText spec = PaperPreset.expand(typed, method);
    SpecText own = spec.without(LatentQuantizationConfig.KEY).without(PREFILL);
    QuantizationConfig config =
        ColdBlockConfig.of(own, method, method.parse(own.without(ColdBlockConfig.KEY)));
    return new CacheSpec(
        spec.text(),
        method,
        config,
        LatentQuantizationConfig.parseRotaryWidth(spec),
        spec.value(PREFILL) == null
            ? Optional.empty()
            : Optional.of(spec.choice(PREFILL, Prefill.CHUNKED)));
  }

  /** Returns a text with the settings that {@code as=paper} stands for, without checking others. */
  public static String expanded(String text) {
    SpecText typed = new SpecText(text);
    return MethodRegistry.named(typed.name())
        .map(method -> PaperPreset.expand(typed, method).text())
        .orElse(text);
  }

  /** Returns the keys that pages depend on. */
  public SpecText pageKeys() {
    return new SpecText(text).without(PREFILL);
  }

  /**
   * Returns the implementation of a spec.
   *
   * @throws IllegalArgumentException if it is a foreign one
   */
  public static CacheSpec of(KvCacheSpec spec) {
    if (spec instanceof CacheSpec parsed) {
      return parsed;
    }
    throw new IllegalArgumentException(
        "the cache is a %s; expected one of KvCacheSpec.parse"
            .formatted(spec.getClass().getName()));
  }

  /** Returns the same cache with prompts quantized as given. */
  public CacheSpec withPrefill(Prefill when) {
    boolean isSame = prefill.orElse(Prefill.CHUNKED) == when;
    return isSame ? this : with(PREFILL, when.name().toLowerCase(Locale.ROOT));
  }

  @Override
  public CacheSpec with(String key, Object value) {
    return parse(new SpecText(text).with(key, String.valueOf(value)).text());
  }

  /** Creates a cache without a model context. */
  public KvCache newCache(CacheShape shape) {
    return newCache(shape, CacheContext.unknown());
  }

  public KvCache newCache(CacheShape shape, CacheContext context) {
    CacheConfig cacheConfig = cacheConfig(shape, context);
    PagedCache cache = new PagedCache(shape, cacheConfig, context.memory());
    return shape.state().isEmpty()
        ? cache
        : new HybridCache(cache, shape, context.memory(), cacheConfig.budget().isPresent());
  }

  /** Restores a stored cache. */
  public KvCache restore(CacheShape shape, CacheContext context, CacheSnapshot snapshot) {
    CacheConfig cacheConfig = cacheConfig(shape, context);
    return shape.state().isEmpty()
        ? PagedCache.restore(shape, cacheConfig, context.memory(), snapshot)
        : HybridCache.restore(shape, cacheConfig, context.memory(), snapshot);
  }

  private CacheConfig cacheConfig(CacheShape shape, CacheContext context) {
    CacheConfig method = configFor(shape).cacheConfig(shape, context);
    return defersPrompts() ? method.deferringPrompts() : method;
  }

  /** Returns whether a prompt is quantized only after its prefill, unless options say otherwise. */
  public boolean defersPrompts() {
    return prefill.equals(Optional.of(Prefill.EXACT));
  }

  /**
   * Returns the configuration for a model.
   *
   * @throws InvalidInputException if values are part of keys and the method must store them, or if
   *     there are no rotary channels to set the bits of
   */
  public QuantizationConfig configFor(CacheShape shape) {
    if (shape.hasValuesInKeys() && !config.supportsValuesInKeys()) {
      throw new InvalidInputException(
          "the cache '%s' stores values beside keys; here they are the first %d of their %d channels"
              .formatted(text, shape.valueDim(), shape.keyDim()));
    }
    if (LatentQuantizationConfig.appliesTo(shape)) {
      return new LatentQuantizationConfig(text, config, rotaryWidth);
    }
    if (rotaryWidth.isPresent()) {
      throw new InvalidInputException(
          "the cache '%s' has a width for rotary channels behind a latent; here keys have none"
              .formatted(text));
    }
    return shape.hasMixedHeads() ? new MixedHeadsConfig(text, config) : config;
  }

  /** Returns the bytes for {@code tokens} positions of a sequence that cannot grow beyond them. */
  public CacheBytes bytesFor(CacheShape shape, int tokens) {
    return bytesFor(shape, CacheContext.unknown().withContextLimit(tokens), tokens);
  }

  /**
   * Returns the bytes for {@code tokens} positions; those of recurrent states are an upper bound.
   */
  public CacheBytes bytesFor(CacheShape shape, CacheContext context, int tokens) {
    CacheConfig cacheConfig = configFor(shape).estimationConfig(shape, context);
    return ByteEstimate.of(shape, cacheConfig, tokens)
        .withStates(RecurrentStates.maxBytes(shape, tokens, cacheConfig.budget().isPresent()));
  }

  /**
   * Returns the bytes that a sequence never exceeds while it grows to {@code tokens} positions.
   * Where sizes depend on the vectors, this is the typical value.
   *
   * @param stepTokens maximum tokens of a step; a prompt that is quantized at its end counts as one
   */
  public long maxBytes(CacheShape shape, CacheContext context, int tokens, int stepTokens) {
    CacheConfig cacheConfig = configFor(shape).estimationConfig(shape, context);
    return ByteEstimate.max(shape, cacheConfig, tokens, longestStep(tokens, stepTokens))
        + RecurrentStates.maxBytes(shape, tokens, cacheConfig.budget().isPresent());
  }

  /** Returns the maximum tokens that are in full precision together, beside the window. */
  public int longestStep(int tokens, int stepTokens) {
    return defersPrompts() ? Math.max(tokens, stepTokens) : stepTokens;
  }

  /** Returns the bytes that all sequences of a model share, in addition to their own. */
  public long sharedBytes(CacheShape shape, CacheContext context) {
    return configFor(shape)
        .estimationConfig(shape, context)
        .codec()
        .map(PageCodec::sharedBytes)
        .orElse(0L);
  }

  /** Returns the maximum bytes of a sequence if this cache has a budget. */
  public Optional<Long> budgetBytes(CacheShape shape, CacheContext context) {
    CacheConfig cacheConfig = configFor(shape).estimationConfig(shape, context);
    return cacheConfig
        .budget()
        .map(any -> new PageBudget(shape, cacheConfig).bytes() + shape.state().recentBytes());
  }

  /** Returns how accurate {@link #bytesFor} is. */
  public PageCodec.SizeAccuracy sizes(CacheShape shape, CacheContext context) {
    return configFor(shape)
        .estimationConfig(shape, context)
        .codec()
        .map(PageCodec::sizes)
        .orElse(PageCodec.SizeAccuracy.EXACT);
  }

  /** Returns the same specification with a text that includes what the model's profile decides. */
  public CacheSpec resolve(CacheContext context) {
    return new CacheSpec(config.resolvedSpec(text, context), method, config, rotaryWidth, prefill);
  }

  /** Returns whether the contents depend on how many tokens a sequence may grow to. */
  public boolean dependsOnContextLimit(CacheShape shape, CacheContext context) {
    return configFor(shape).estimationConfig(shape, context).budget().isPresent();
  }

  /** Returns whether the precision of operands, exact or fast, can be chosen. */
  public boolean hasOperandPrecision() {
    return method.supportsOperandPrecision();
  }

  @Override
  public String toString() {
    return text;
  }
}
