package dev.kvasir.cache;

import dev.kvasir.codec.PageCodec;
import dev.kvasir.kernel.DenseMatrix.Precision;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * The kind of cache that a user asks for, as typed: {@code name[:bits][,key=value...]}.
 *
 * @param text as typed
 */
public record CacheSpec(String text, CacheMethod method) {
  /** Every method by its name: what makes a method of a spec's text. */
  private static final Map<String, Function<SpecText, CacheMethod>> METHODS = new LinkedHashMap<>();

  static {
    METHODS.put("fp16", spec -> DenseMethod.of(spec, Precision.F16));
    METHODS.put("bf16", spec -> DenseMethod.of(spec, Precision.BF16));
    METHODS.put("fp32", spec -> DenseMethod.of(spec, Precision.F32));
    METHODS.put("kivi", KiviMethod::of);
    METHODS.put("patternkv", PatternMethod::of);
    METHODS.put("mixkvq", MixMethod::of);
    METHODS.put("pmkvq", ProgressiveMethod::of);
    METHODS.put("commvq", CodebookMethod::of);
  }

  /** As {@link #METHODS} wants them typed. */
  private static final String KNOWN =
      "fp16, bf16, fp32, kivi:BITS, patternkv:BITS, mixkvq, pmkvq:BITS, commvq:BITS";

  /** Half precision. */
  public static final CacheSpec DEFAULT = parse("fp16");

  public static CacheSpec parse(String text) {
    SpecText spec = new SpecText(text);
    Function<SpecText, CacheMethod> method = METHODS.get(spec.name());
    if (method == null) {
      throw spec.wrong("the method '%s' is unknown; known are %s".formatted(spec.name(), KNOWN));
    }
    return new CacheSpec(text, method.apply(spec));
  }

  /** A cache of vectors of which nothing else is known. */
  public KvCache newCache(CacheShape shape) {
    return newCache(shape, CacheHost.unknown());
  }

  public KvCache newCache(CacheShape shape, CacheHost host) {
    return new PagedCache(shape, method.settings(shape, host));
  }

  /** What {@code tokens} positions will take, where a sequence may grow to no more. */
  public CacheBytes bytesFor(CacheShape shape, int tokens) {
    return bytesFor(shape, CacheHost.unknown().withContextLimit(tokens), tokens);
  }

  /** What {@code tokens} positions will take. */
  public CacheBytes bytesFor(CacheShape shape, CacheHost host, int tokens) {
    return PagedCache.bytesFor(shape, method.foretelling(shape, host), tokens);
  }

  /** What all sequences of a model share, beside their own bytes. */
  public long sharedBytes(CacheShape shape, CacheHost host) {
    return method.foretelling(shape, host).codec().map(PageCodec::sharedBytes).orElse(0L);
  }

  /** How well {@link #bytesFor} knows. */
  public PageCodec.Sizes sizes(CacheShape shape, CacheHost host) {
    return method
        .foretelling(shape, host)
        .codec()
        .map(PageCodec::sizes)
        .orElse(PageCodec.Sizes.EXACT);
  }

  /** The same kind of cache, its text with what the model's profile decides for it. */
  public CacheSpec named(CacheHost host) {
    return new CacheSpec(method.named(text, host), method);
  }

  /** Whether it reads bits by tables, which may be exact or fast. */
  public boolean looksUp() {
    return !(method instanceof DenseMethod || method instanceof CodebookMethod);
  }

  @Override
  public String toString() {
    return text;
  }
}
