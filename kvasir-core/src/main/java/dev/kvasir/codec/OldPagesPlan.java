package dev.kvasir.codec;

import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A plan whose old pages are stored with fewer bits: {@code stored=2@4096}, of pages that 4096
 * tokens follow. It is a key of any method that keeps nothing of a sequence. Being part of the
 * spec, it is part of whom stored bytes belong to: a cache without it never meets such pages.
 *
 * @param spec as typed
 * @param wide what pages are packed by
 * @param narrow what they are packed by anew
 * @param behind tokens that follow an old page
 */
public record OldPagesPlan(SpecText spec, CachePlan wide, CachePlan narrow, int behind)
    implements CachePlan {
  public static final String KEY = "stored";

  private static final Pattern TYPED = Pattern.compile("([0-9]{1,2})@([0-9]{1,7})");

  /** Keys that give keys and values bits other than those behind the colon. */
  private static final Set<String> OTHER_BITS = Set.of("k", "v", "widths");

  private interface Settings {
    CacheSettings of(CachePlan plan);
  }

  /** What becomes of a method's plan by the spec's key, where it has one. */
  public static CachePlan of(SpecText spec, Method method, CachePlan wide) {
    if (!spec.has(KEY)) {
      return wide;
    }
    Matcher typed = TYPED.matcher(Optional.ofNullable(spec.value(KEY)).orElse(""));
    if (!typed.matches()) {
      throw spec.wrong(
          "%s is '%s'; expected bits and tokens, as in 2@4096".formatted(KEY, spec.value(KEY)));
    }
    SpecText narrower = spec.without(KEY);
    for (String key : OTHER_BITS) {
      narrower = narrower.without(key);
    }
    CachePlan narrow = method.plan(narrower.withBits(typed.group(1)));
    return new OldPagesPlan(spec, wide, narrow, Integer.parseInt(typed.group(2)));
  }

  private CacheSettings with(Settings settings) {
    CacheSettings made = settings.of(wide);
    PageCodec packing = settings.of(narrow).codec().orElse(null);
    if (!(made.codec().orElse(null) instanceof StatelessCodec own)
        || !(packing instanceof StatelessCodec codec)) {
      throw spec.wrong("%s is for kinds that keep nothing of a sequence".formatted(KEY));
    }
    if (codec.sharedBytes() > 0) {
      throw spec.wrong("%s would need tables of its own".formatted(KEY));
    }
    if (codec.pageBytes() >= own.pageBytes()) {
      throw spec.wrong(
          "%s has pages of %d bytes; expected fewer than the %d that pages have in memory"
              .formatted(KEY, codec.pageBytes(), own.pageBytes()));
    }
    return made.storing(new OldPages(behind, codec));
  }

  @Override
  public CacheSettings settings(CacheShape shape) {
    return with(plan -> plan.settings(shape));
  }

  @Override
  public CacheSettings foretelling(CacheShape shape, CacheHost host) {
    return with(plan -> plan.foretelling(shape, host));
  }

  @Override
  public CacheSettings settings(CacheShape shape, CacheHost host) {
    return with(plan -> plan.settings(shape, host));
  }

  @Override
  public boolean takesValuesInKeys() {
    return wide.takesValuesInKeys();
  }

  @Override
  public Set<String> profileParts() {
    Set<String> parts = new HashSet<>(wide.profileParts());
    parts.addAll(narrow.profileParts());
    return Set.copyOf(parts);
  }

  @Override
  public String named(String text, CacheHost host) {
    return wide.named(text, host);
  }
}
