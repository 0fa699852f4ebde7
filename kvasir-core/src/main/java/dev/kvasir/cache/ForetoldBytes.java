package dev.kvasir.cache;

import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.PageCodec;

/** What a cache will take, by its settings alone. */
final class ForetoldBytes {
  private static final int TOKENS = KvCache.TOKENS_PER_PAGE;

  private final CacheSettings settings;
  private final PageCodec codec; // null where nothing is packed
  private final BlockPlaces places;
  private final int together;
  private final int tokens;

  private ForetoldBytes(CacheSettings settings, int tokens) {
    this.settings = settings;
    this.codec = settings.codec().orElse(null);
    this.places = new BlockPlaces(settings.sinks());
    this.together = settings.codec().map(PageCodec::blocksTogether).orElse(1);
    this.tokens = tokens;
  }

  /** What so many positions take once they are all held. */
  static CacheBytes of(CacheShape shape, CacheSettings settings, int tokens) {
    if (settings.budget().isPresent()) {
      return new PageBudget(shape, settings).requireRoom().bytesFor(tokens);
    }
    return new ForetoldBytes(settings, tokens).of(LayerGroups.of(shape, settings));
  }

  private CacheBytes of(LayerGroups groups) {
    long codes = 0;
    long pages = 0;
    long window = 0;
    long sinks = 0;
    int sinkEnd = Math.min(places.sinkBlocks(), blocks());
    for (LayerGroup group : groups.all()) {
      int gone = group.gone(places, tokens);
      int sealedEnd = group.packs() ? places.sinkBlocks() + sealed() : places.sinkBlocks();
      int sealed = sealedEnd - Math.max(gone, places.sinkBlocks());
      if (sealed > 0) {
        codes += sealed * group.codeBytes(codec);
        pages += sealed * group.pageBytes(codec);
      }
      window += denseBytes(group, Math.max(gone, sealedEnd), blocks());
      sinks += denseBytes(group, gone, sinkEnd);
    }
    return new CacheBytes(
        codes,
        pages - codes,
        window,
        sinks,
        codec == null ? 0 : codec.tableBytes(groups.anyPacks() ? sealed() : 0));
  }

  /** Blocks whose first token has come. */
  private int blocks() {
    return tokens == 0 ? 0 : places.blockOf(tokens - 1) + 1;
  }

  /** Of those behind the sinks, the ones that have been packed in layers that are. */
  private int sealed() {
    int passed = Math.max(0, tokens - settings.sinks() - settings.window()) / TOKENS;
    return codec == null ? 0 : passed / together * together;
  }

  private long denseBytes(LayerGroup group, int first, int end) {
    return first >= end
        ? 0
        : denseBytes(group, places.firstPosition(end) - places.firstPosition(first));
  }

  private long denseBytes(LayerGroup group, long count) {
    return DenseBlock.bytesFor(group.shape(), count, settings.precision());
  }

  /**
   * What a sequence never exceeds until it has so many positions, what it sets aside included.
   *
   * @param stepTokens of a step at the most, which are packed at its end
   */
  static long most(CacheShape shape, CacheSettings settings, int tokens, int stepTokens) {
    ForetoldBytes foretold = new ForetoldBytes(settings, tokens);
    LayerGroups groups = LayerGroups.of(shape, settings);
    if (settings.budget().isPresent()) {
      // What is set aside for packing is no part of a sequence's own budget.
      long page = groups.get(0).pageBytes(foretold.codec);
      return new PageBudget(shape, settings).requireRoom().bytes()
          + foretold.mostDense(groups.get(0), stepTokens) * page;
    }
    long bytes = foretold.codec == null ? 0 : foretold.codec.tableBytes(foretold.whole());
    for (LayerGroup group : groups.all()) {
      bytes += foretold.most(group, stepTokens);
    }
    return bytes;
  }

  private long most(LayerGroup group, int stepTokens) {
    long sinks = Math.min(settings.sinks(), Math.ceilDiv(tokens, TOKENS) * (long) TOKENS);
    long dense = mostDense(group, stepTokens);
    long numbers = denseBytes(group, sinks + dense * TOKENS);
    if (!group.packs()) {
      return numbers;
    }
    // Pages that can shrink count as narrow as they can be, once they are packed.
    long packed = Math.min(whole(), group.mostBlocks(stepTokens)) - dense;
    return numbers
        + dense * group.pageBytes(codec)
        + Math.max(0, packed) * group.leastPageBytes(codec);
  }

  /** Blocks behind the sinks. */
  private int whole() {
    return Math.ceilDiv(Math.max(0, tokens - settings.sinks()), TOKENS);
  }

  /** Those of them that are not packed while a step runs. */
  private long mostDense(LayerGroup group, int stepTokens) {
    long held = Math.min(whole(), group.mostBlocks(stepTokens));
    long recent = Math.ceilDiv(settings.window() + stepTokens, TOKENS) + together;
    return group.packs() ? Math.min(held, recent) : held;
  }
}
