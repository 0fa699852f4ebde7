package dev.kvasir.cuda.engine;

import dev.kvasir.cache.BlockView;
import dev.kvasir.cache.CacheBytes;
import dev.kvasir.cache.CacheRun;
import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.QuantizationTime;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SequenceObserver;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;

/**
 * The KV cache of a sequence whose layers are divided over several GPUs. Each has a part, which is
 * a cache of its layers. The parts always have the same tokens: what one of them cannot do, none
 * does.
 */
final class DividedCache implements KvCache, DeviceSequence {
  private final Whole whole;
  private final List<KvCache> parts; // in the order of layers
  private final List<Integer> layers; // of each part
  private int length;

  /** The configuration and the shape of all layers, in which sequences are stored. */
  record Whole(DeviceCacheConfig cacheConfig, CacheShape shape) {}

  /**
   * @param parts equal except for their layers
   * @param layers number of layers of each part
   */
  DividedCache(Whole whole, List<? extends KvCache> parts, List<Integer> layers) {
    this.whole = whole;
    this.parts = List.copyOf(parts);
    this.layers = List.copyOf(layers);
    this.length = parts.getFirst().length();
  }

  /** Returns the cache of some parts; a single one is the whole cache. */
  static KvCache of(Whole whole, List<DeviceCache> parts) {
    return parts.size() == 1
        ? parts.getFirst()
        : new DividedCache(whole, parts, parts.stream().map(DeviceCache::layers).toList());
  }

  @Override
  public DeviceCache part(int card) {
    return (DeviceCache) parts.get(card);
  }

  private KvCache first() {
    return parts.getFirst();
  }

  private int least(ToIntFunction<KvCache> number) {
    return parts.stream().mapToInt(number).min().orElseThrow();
  }

  @Override
  public int length() {
    return length;
  }

  @Override
  public void pin() {
    parts.forEach(KvCache::pin);
  }

  @Override
  public void unpin() {
    parts.forEach(KvCache::unpin);
  }

  /** If one part has too little memory, all parts give back what they have reserved. */
  @Override
  public void reserve(int wanted) {
    try {
      parts.forEach(part -> part.reserve(wanted));
    } catch (RuntimeException | Error e) {
      for (KvCache part : parts) {
        Resources.closeAfter(e, () -> part.truncate(length));
      }
      throw e;
    }
  }

  @Override
  public int capacity() {
    return least(KvCache::capacity);
  }

  @Override
  public int stepCapacity(int tokens) {
    return least(part -> part.stepCapacity(tokens));
  }

  @Override
  public void append(
      int layer, int position, float[] keys, int keysAt, float[] values, int valuesAt) {
    first().append(layer, position, keys, keysAt, values, valuesAt); // which refuses
  }

  @Override
  public void commit(int positions) {
    parts.forEach(part -> part.commit(positions));
    length += positions;
  }

  @Override
  public void quantizeWindow() {
    parts.forEach(KvCache::quantizeWindow);
  }

  @Override
  public boolean mustQuantize() {
    return parts.stream().anyMatch(KvCache::mustQuantize);
  }

  @Override
  public void deferQuantization(boolean deferred) {
    parts.forEach(part -> part.deferQuantization(deferred));
  }

  @Override
  public boolean defersPrompts() {
    return first().defersPrompts();
  }

  @Override
  public boolean prefillsOnStoredPages() {
    return first().prefillsOnStoredPages();
  }

  @Override
  public int maxQueryRows() {
    return first().maxQueryRows();
  }

  @Override
  public SequenceObserver observer() {
    return first().observer();
  }

  @Override
  public int retainable(int wanted) {
    return least(part -> part.retainable(wanted));
  }

  @Override
  public int firstRetained(int layer) {
    return first().firstRetained(layer);
  }

  @Override
  public boolean isStateful() {
    return first().isStateful();
  }

  @Override
  public boolean evicts(int layer) {
    return first().evicts(layer);
  }

  @Override
  public void evict(int layer, int position) {
    first().evict(layer, position); // which refuses
  }

  /**
   * A part without memory to dequantize a block drops all of it; the others then do too, at the
   * beginning of a block, where none dequantizes.
   */
  @Override
  public void truncate(int wanted) {
    int retained = retainable(wanted);
    try {
      parts.forEach(part -> part.truncate(retained));
    } finally {
      length = least(KvCache::length);
      parts.stream().filter(part -> part.length() > length).forEach(part -> part.truncate(length));
    }
  }

  @Override
  public KvCache fork() {
    List<KvCache> forks = new ArrayList<>();
    try {
      parts.forEach(part -> forks.add(part.fork()));
      return new DividedCache(whole, forks, layers);
    } catch (RuntimeException | Error e) {
      forks.forEach(fork -> Resources.closeAfter(e, fork::close));
      throw e;
    }
  }

  @Override
  public CacheSnapshot snapshot() {
    part(0).checkOpen();
    whole.cacheConfig().requireStorable(whole.cacheConfig().format().toString());
    List<StoredParts.Part> stored = new ArrayList<>();
    for (int card = 0; card < parts.size(); card++) {
      stored.add(new StoredParts.Part(part(card).resources(), part(card).pages()));
    }
    return new DeviceSnapshot(
        whole.cacheConfig(), whole.shape(), StoredParts.of(whole.cacheConfig(), stored), length);
  }

  @Override
  public int blockOf(int position) {
    return first().blockOf(position);
  }

  @Override
  public int firstPosition(int block) {
    return first().firstPosition(block);
  }

  @Override
  public BlockView view(int layer, int block) {
    return first().view(layer, block); // which refuses
  }

  @Override
  public QuantizationTime quantizationTime() {
    return first().quantizationTime();
  }

  @Override
  public CacheBytes bytes() {
    List<CacheBytes> all = parts.stream().map(KvCache::bytes).toList();
    return new CacheBytes(
        sum(all, CacheBytes::codes),
        sum(all, CacheBytes::scales),
        sum(all, CacheBytes::window),
        sum(all, CacheBytes::sinks),
        sum(all, CacheBytes::tables));
  }

  private static long sum(List<CacheBytes> all, ToLongFunction<CacheBytes> number) {
    return all.stream().mapToLong(number).sum();
  }

  /** Returns the runs of the first part, with the mean bits of all parts where these have them. */
  @Override
  public List<CacheRun> runs() {
    List<List<CacheRun>> all = parts.stream().map(KvCache::runs).toList();
    List<CacheRun> runs = new ArrayList<>();
    for (int i = 0; i < all.getFirst().size(); i++) {
      runs.add(mean(all, i));
    }
    return runs;
  }

  private CacheRun mean(List<List<CacheRun>> all, int index) {
    CacheRun own = all.getFirst().get(index);
    double width = 0;
    double bits = 0;
    int count = 0;
    for (int card = 0; card < all.size(); card++) {
      CacheRun run = index < all.get(card).size() ? all.get(card).get(index) : own;
      boolean isSame = run.tokens() == own.tokens() && run.kind() == own.kind();
      width += layers.get(card) * (isSame ? run : own).width();
      bits += layers.get(card) * (isSame ? run : own).bits();
      count += layers.get(card);
    }
    return new CacheRun(own.tokens(), width / count, bits / count, own.kind());
  }

  @Override
  public void close() {
    length = 0;
    Resources.closeAll(new ArrayList<>(parts));
  }
}
