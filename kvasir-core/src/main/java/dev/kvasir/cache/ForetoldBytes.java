package dev.kvasir.cache;

import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.ShrinkingCodec;

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

  /**
   * What a sequence never exceeds until it has so many positions, what it sets aside included.
   *
   * @param stepTokens of a step at the most, which are packed at its end
   */
  static long most(CacheShape shape, CacheSettings settings, int tokens, int stepTokens) {
    int blocks = Math.ceilDiv(Math.max(0, tokens - settings.sinks()), TOKENS);
    int together = settings.codec().map(PageCodec::blocksTogether).orElse(1);
    int recent = Math.ceilDiv(settings.window() + stepTokens, TOKENS) + together;
    int dense = settings.codec().isEmpty() ? blocks : Math.min(blocks, recent);
    if (settings.budget().isPresent()) {
      // What is set aside for packing is no part of a sequence's own budget.
      long page = settings.codec().orElseThrow().blockBytes(shape.layers());
      return new PageBudget(shape, settings).requireRoom().bytes() + dense * page;
    }
    long sinks = Math.min(settings.sinks(), Math.ceilDiv(tokens, TOKENS) * (long) TOKENS);
    return DenseBlock.bytesFor(shape, sinks + (long) dense * TOKENS, settings.precision())
        + settings.codec().map(codec -> packed(shape, codec, blocks, dense)).orElse(0L);
  }

  /** Pages that can shrink count as narrow as they can be, once they are packed. */
  private static long packed(CacheShape shape, PageCodec codec, int blocks, int dense) {
    long page = codec.blockBytes(shape.layers());
    long least =
        codec instanceof ShrinkingCodec shrinking ? PageBudget.floorBytes(shape, shrinking) : page;
    return dense * page + (blocks - dense) * least + codec.tableBytes(blocks);
  }
}
