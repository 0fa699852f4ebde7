package dev.kvasir.cache;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ColdBlockConfig;
import dev.kvasir.codec.MethodRegistry;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.QuantizationMethod;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.latent.LatentQuantizationConfig;
import dev.kvasir.error.InvalidInputException;
import java.util.Optional;

/**
 * The kind of cache that a user asks for, as typed: {@code name[:bits][,key=value...]}.
 *
 * @param text as typed
 * @param plan what the text stands for
 */
public record CacheSpec(String text, QuantizationMethod method, QuantizationConfig config) {
  /** Half precision. */
  public static final CacheSpec DEFAULT = parse("fp16");

  public static CacheSpec parse(String text) {
    SpecText spec = new SpecText(text);
    QuantizationMethod method = MethodRegistry.of(spec);
    SpecText own = spec.without(LatentQuantizationConfig.KEY);
    QuantizationConfig config =
        ColdBlockConfig.of(own, method, method.parse(own.without(ColdBlockConfig.KEY)));
    return new CacheSpec(
        text,
        method,
        new LatentQuantizationConfig(
            text, config, LatentQuantizationConfig.parseRotaryWidth(spec)));
  }

  /** A cache of vectors of which nothing else is known. */
  public KvCache newCache(CacheShape shape) {
    return newCache(shape, CacheContext.unknown());
  }

  public KvCache newCache(CacheShape shape, CacheContext context) {
    return new PagedCache(shape, configFor(shape).cacheConfig(shape, context), context.memory());
  }

  /** A cache that was stored, of a model of which as much is known. */
  public KvCache restore(CacheShape shape, CacheContext context, CacheSnapshot snapshot) {
    return PagedCache.restore(
        shape, configFor(shape).cacheConfig(shape, context), context.memory(), snapshot);
  }

  /** Refuses heads whose values are part of keys where the method must store them. */
  private QuantizationConfig configFor(CacheShape shape) {
    if (shape.hasValuesInKeys() && !config.supportsValuesInKeys()) {
      throw new InvalidInputException(
          "the cache '%s' stores values beside keys; here they are the first %d of their %d channels"
              .formatted(text, shape.valueDim(), shape.keyDim()));
    }
    return config;
  }

  /** What {@code tokens} positions will take, where a sequence may grow to no more. */
  public CacheBytes bytesFor(CacheShape shape, int tokens) {
    return bytesFor(shape, CacheContext.unknown().withContextLimit(tokens), tokens);
  }

  /** What {@code tokens} positions will take. */
  public CacheBytes bytesFor(CacheShape shape, CacheContext context, int tokens) {
    return ByteEstimate.of(shape, configFor(shape).estimationConfig(shape, context), tokens);
  }

  /**
   * What a sequence never exceeds on its way to so many positions; where sizes depend on the
   * vectors, what is usual.
   *
   * @param stepTokens tokens of a step at the most
   */
  public long maxBytes(CacheShape shape, CacheContext context, int tokens, int stepTokens) {
    return ByteEstimate.max(
        shape, configFor(shape).estimationConfig(shape, context), tokens, stepTokens);
  }

  /** What all sequences of a model share, beside their own bytes. */
  public long sharedBytes(CacheShape shape, CacheContext context) {
    return configFor(shape)
        .estimationConfig(shape, context)
        .codec()
        .map(PageCodec::sharedBytes)
        .orElse(0L);
  }

  /** What a sequence may take at the most, where its kind of cache keeps to a budget. */
  public Optional<Long> budgetBytes(CacheShape shape, CacheContext context) {
    CacheConfig settings = configFor(shape).estimationConfig(shape, context);
    return settings.budget().map(any -> new PageBudget(shape, settings).bytes());
  }

  /** How well {@link #bytesFor} knows. */
  public PageCodec.SizeAccuracy sizes(CacheShape shape, CacheContext context) {
    return configFor(shape)
        .estimationConfig(shape, context)
        .codec()
        .map(PageCodec::sizes)
        .orElse(PageCodec.SizeAccuracy.EXACT);
  }

  /** The same kind of cache, its text with what the model's profile decides for it. */
  public CacheSpec resolve(CacheContext context) {
    return new CacheSpec(config.resolvedSpec(text, context), method, config);
  }

  /** Whether what it holds depends on how many tokens a sequence may grow to. */
  public boolean dependsOnContextLimit(CacheShape shape, CacheContext context) {
    return configFor(shape).estimationConfig(shape, context).budget().isPresent();
  }

  /** Whether it reads bits by tables, which may be exact or fast. */
  public boolean hasOperandPrecision() {
    return method.supportsOperandPrecision();
  }

  @Override
  public String toString() {
    return text;
  }
}
