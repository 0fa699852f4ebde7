package dev.kvasir.cuda.engine;

import dev.kvasir.cuda.driver.Device;
import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.formats.CacheResources;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.kernels.DeviceWeights;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.LayerRange;
import dev.kvasir.model.ModelConfig;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * The GPUs of an engine: usually one, otherwise several with consecutive layers each. Layers are
 * divided in proportion to the memory that a GPU has for layers and their caches, and the memory of
 * caches in proportion to layers.
 */
final class Cards implements AutoCloseable {
  private final List<Card> cards; // in the order of layers
  private final DecoderChain chain;
  private final MemoryPool memory; // of the caches on all cards
  private final ReentrantLock lock;
  private final Map<DeviceCacheConfig, List<CacheResources>> resources = new HashMap<>();

  private Cards(List<Card> cards, MemoryPool memory, ReentrantLock lock) {
    this.cards = cards;
    this.memory = memory;
    this.lock = lock;
    this.chain = new DecoderChain(cards.stream().map(Card::decoder).toList());
  }

  /** Loads the weights of a card. */
  interface WeightLoader {
    DeviceWeights load(DeviceContext context, LayerRange range);

    /** Returns the bytes of what belongs to no layer. */
    default long endBytes(Device device, boolean hasFirst, boolean hasLast) {
      return 0;
    }
  }

  /**
   * Opens devices; one that is named several times has several ranges of layers.
   *
   * @param cacheBytes limit of the memory of caches
   * @param maxRows maximum rows of a step
   * @throws DeviceException if there is too little memory; none stays allocated then
   */
  static Cards open(
      List<Device> devices, ModelConfig config, long cacheBytes, int maxRows, WeightLoader loader) {
    List<AutoCloseable> opened = new ArrayList<>();
    try {
      return open(devices, config, cacheBytes, maxRows, loader, opened);
    } catch (RuntimeException | Error e) {
      Resources.closeAfter(e, () -> Resources.closeAll(opened));
      throw e;
    }
  }

  private static Cards open(
      List<Device> devices,
      ModelConfig config,
      long cacheBytes,
      int maxRows,
      WeightLoader loader,
      List<AutoCloseable> opened) {
    ReentrantLock lock = new ReentrantLock();
    List<DeviceContext> contexts = new ArrayList<>();
    for (Device device : devices) {
      DeviceContext context = DeviceContext.open(device, lock);
      opened.add(context);
      contexts.add(context);
    }
    List<LayerRange> ranges =
        LayerRange.divide(config.layers(), memoryForLayers(contexts, devices, config, loader));
    List<Card> cards = new ArrayList<>();
    for (int i = 0; i < contexts.size(); i++) {
      cards.add(load(contexts.get(i), config, ranges.get(i), maxRows, loader));
    }
    MemoryPool memory = new MemoryPool(Math.min(cacheBytes, availableBytes(cards, devices)));
    for (Card card : cards) {
      MemoryPool own =
          card.range().isWhole() ? memory : memory.part(card.range().share(memory.limit()));
      card.context().openCacheMemory(card.config(), own, maxRows);
    }
    return new Cards(List.copyOf(cards), memory, lock);
  }

  /** Returns the bytes that layers with their caches can take of each device. */
  private static long[] memoryForLayers(
      List<DeviceContext> contexts, List<Device> devices, ModelConfig config, WeightLoader loader) {
    long[] bytes = new long[contexts.size()];
    for (int i = 0; i < bytes.length; i++) {
      Device device = devices.get(i);
      long free = contexts.get(i).freeBytes() / Collections.frequency(devices, device);
      long ends = loader.endBytes(device, i == 0, i == bytes.length - 1);
      bytes[i] = Math.max(1, free - DeviceContext.leftFree(config) - ends);
    }
    return bytes;
  }

  private static Card load(
      DeviceContext context,
      ModelConfig config,
      LayerRange range,
      int maxRows,
      WeightLoader loader) {
    ModelConfig own = range.isWhole() ? config : config.withLayers(range);
    DeviceDecoder decoder = context.newDecoder(own, loader.load(context, range), maxRows);
    return new Card(context, range, own, decoder);
  }

  /** Returns the bytes that caches can take, of which every card has its share. */
  private static long availableBytes(List<Card> cards, List<Device> devices) {
    return cards.stream()
        .mapToLong(
            card -> {
              int sharing = Collections.frequency(devices, card.context().device());
              long own = card.context().availableBytes(card.config(), sharing);
              return own * card.range().all() / card.range().count();
            })
        .min()
        .orElseThrow();
  }

  List<Card> all() {
    return cards;
  }

  DecoderChain chain() {
    return chain;
  }

  MemoryPool memory() {
    return memory;
  }

  /** Returns the lock that is held while work is submitted to any card. */
  ReentrantLock lock() {
    return lock;
  }

  /** Returns the names of the devices, for display. */
  String name() {
    return name(cards.stream().map(card -> card.context().device()).toList());
  }

  static String name(List<Device> devices) {
    return devices.stream().map(Device::name).collect(Collectors.joining(" and "));
  }

  /** Returns the allocated bytes of all devices. */
  long bytes() {
    return cards.stream().mapToLong(card -> card.context().bytes()).sum();
  }

  /**
   * Returns the resources of a cache configuration on every card, created on first use.
   *
   * @throws DeviceException if its pages cannot be divided
   */
  List<CacheResources> resources(DeviceCacheConfig cacheConfig) {
    lock.lock();
    try {
      List<CacheResources> known = resources.get(cacheConfig);
      if (known == null) {
        known = cards.stream().map(card -> card.resources(cacheConfig)).toList();
        resources.put(cacheConfig, known);
      }
      return known;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns the bytes that a sequence takes of the memory of all cards. Where it takes more of a
   * card than the card's share of layers, the others count as if they were as full.
   *
   * @param ofCard bytes on the card with this index
   */
  long balancedBytes(ToLongFunction<Integer> ofCard) {
    long most = 0;
    for (int i = 0; i < cards.size(); i++) {
      LayerRange range = cards.get(i).range();
      most = Math.max(most, Math.ceilDiv(ofCard.applyAsLong(i) * range.all(), range.count()));
    }
    return most;
  }

  void fillRandom() {
    cards.forEach(card -> card.context().fillRandom());
  }

  /** Waits until all submitted work has run. */
  void synchronize() {
    cards.forEach(card -> card.context().synchronize());
  }

  @Override
  public void close() {
    Resources.closeAll(new ArrayList<>(cards.stream().map(Card::context).toList()));
  }
}
