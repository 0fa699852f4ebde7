package dev.kvasir.cache;

import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.PageCodec;

/** What a cache will take, by its settings alone. */
final class ForetoldBytes {
  private static final int TOKENS = KvCache.TOKENS_PER_PAGE;

  private ForetoldBytes() {}

  /** What so many positions take once they are all held. */
  static CacheBytes of(CacheShape shape, CacheSettings settings, int tokens) {
    if (settings.budget().isPresent()) {
      return new PageBudget(shape, settings).requireRoom().bytesFor(tokens);
    }
    int sinks = Math.min(settings.sinks(), Math.ceilDiv(tokens, TOKENS) * TOKENS);
    int rest = Math.max(0, tokens - settings.sinks());
    int together = settings.codec().map(PageCodec::blocksTogether).orElse(1);
    int passed = Math.max(0, rest - settings.window()) / TOKENS;
    int sealed = settings.codec().isEmpty() ? 0 : passed / together * together;
    long dense = Math.ceilDiv(rest - sealed * TOKENS, TOKENS);
    int layers = shape.layers();
    long blockBytes = settings.codec().map(codec -> codec.blockBytes(layers)).orElse(0L);
    long codeBytes = settings.codec().map(codec -> codec.blockCodeBytes(layers)).orElse(0L);
    return new CacheBytes(
        sealed * codeBytes,
        sealed * (blockBytes - codeBytes),
        DenseBlock.bytesFor(shape, dense * TOKENS, settings.precision()),
        DenseBlock.bytesFor(shape, sinks, settings.precision()),
        settings.codec().map(codec -> codec.tableBytes(sealed)).orElse(0L));
  }
}
