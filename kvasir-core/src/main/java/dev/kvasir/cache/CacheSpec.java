package dev.kvasir.cache;

import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Method;
import dev.kvasir.codec.Methods;
import dev.kvasir.codec.OldPagesPlan;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.latent.LatentPlan;
import dev.kvasir.error.InvalidInputException;
import java.util.Optional;

/**
 * The kind of cache that a user asks for, as typed: {@code name[:bits][,key=value...]}.
 *
 * @param text as typed
 * @param plan what the text stands for
 */
public record CacheSpec(String text, Method method, CachePlan plan) {
  /** Half precision. */
  public static final CacheSpec DEFAULT = parse("fp16");

  public static CacheSpec parse(String text) {
    SpecText spec = new SpecText(text);
    Method method = Methods.of(spec);
    SpecText own = spec.without(LatentPlan.KEY);
    CachePlan plan = OldPagesPlan.of(own, method, method.plan(own.without(OldPagesPlan.KEY)));
    return new CacheSpec(text, method, new LatentPlan(text, plan, LatentPlan.width(spec)));
  }

  /** A cache of vectors of which nothing else is known. */
  public KvCache newCache(CacheShape shape) {
    return newCache(shape, CacheHost.unknown());
  }

  public KvCache newCache(CacheShape shape, CacheHost host) {
    return new PagedCache(shape, planFor(shape).settings(shape, host), host.memory());
  }

  /** A cache that was stored, of a model of which as much is known. */
  public KvCache restored(CacheShape shape, CacheHost host, CacheForm form) {
    return PagedCache.restored(shape, planFor(shape).settings(shape, host), host.memory(), form);
  }

  /** Refuses heads whose values are part of keys where the method must store them. */
  private CachePlan planFor(CacheShape shape) {
    if (shape.hasValuesInKeys() && !plan.takesValuesInKeys()) {
      throw new InvalidInputException(
          "the cache '%s' stores values beside keys; here they are the first %d of their %d channels"
              .formatted(text, shape.valueDim(), shape.keyDim()));
    }
    return plan;
  }

  /** What {@code tokens} positions will take, where a sequence may grow to no more. */
  public CacheBytes bytesFor(CacheShape shape, int tokens) {
    return bytesFor(shape, CacheHost.unknown().withContextLimit(tokens), tokens);
  }

  /** What {@code tokens} positions will take. */
  public CacheBytes bytesFor(CacheShape shape, CacheHost host, int tokens) {
    return ForetoldBytes.of(shape, planFor(shape).foretelling(shape, host), tokens);
  }

  /**
   * What a sequence never exceeds on its way to so many positions; where sizes depend on the
   * vectors, what is usual.
   *
   * @param stepTokens tokens of a step at the most
   */
  public long mostBytes(CacheShape shape, CacheHost host, int tokens, int stepTokens) {
    return ForetoldBytes.most(shape, planFor(shape).foretelling(shape, host), tokens, stepTokens);
  }

  /** What all sequences of a model share, beside their own bytes. */
  public long sharedBytes(CacheShape shape, CacheHost host) {
    return planFor(shape).foretelling(shape, host).codec().map(PageCodec::sharedBytes).orElse(0L);
  }

  /** What a sequence may take at the most, where its kind of cache keeps to a budget. */
  public Optional<Long> budgetBytes(CacheShape shape, CacheHost host) {
    CacheSettings settings = planFor(shape).foretelling(shape, host);
    return settings.budget().map(any -> new PageBudget(shape, settings).bytes());
  }

  /** How well {@link #bytesFor} knows. */
  public PageCodec.Sizes sizes(CacheShape shape, CacheHost host) {
    return planFor(shape)
        .foretelling(shape, host)
        .codec()
        .map(PageCodec::sizes)
        .orElse(PageCodec.Sizes.EXACT);
  }

  /** The same kind of cache, its text with what the model's profile decides for it. */
  public CacheSpec named(CacheHost host) {
    return new CacheSpec(plan.named(text, host), method, plan);
  }

  /** Whether what it holds depends on how many tokens a sequence may grow to. */
  public boolean dependsOnLimit(CacheShape shape, CacheHost host) {
    return planFor(shape).foretelling(shape, host).budget().isPresent();
  }

  /** Whether it reads bits by tables, which may be exact or fast. */
  public boolean looksUp() {
    return method.looksUp();
  }

  @Override
  public String toString() {
    return text;
  }
}
