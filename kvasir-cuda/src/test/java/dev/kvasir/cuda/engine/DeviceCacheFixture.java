package dev.kvasir.cuda.engine;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.PageWidths;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.cuda.driver.DeviceFixture;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.formats.AttentionLimits;
import dev.kvasir.cuda.formats.CacheResources;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.KvAppendKernel;
import dev.kvasir.cuda.memory.PagePools;
import dev.kvasir.cuda.memory.PageTable;
import dev.kvasir.memory.MemoryPool;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Caches of one configuration on a device without an engine. Rows are appended to all layers as
 * given.
 */
public final class DeviceCacheFixture {
  public final CacheResources resources;
  private final DeviceFixture device;
  private final AttentionShape shape;
  private final int layers;
  private final KvAppendKernel store;

  public DeviceCacheFixture(
      DeviceFixture device, DeviceCacheConfig cacheConfig, AttentionShape shape, int layers) {
    this.device = device;
    this.shape = shape;
    this.layers = layers;
    this.store = new KvAppendKernel(device.module, shape);
    PagePools pools =
        device.own(new PagePools(device.context, MemoryPool.unlimited(), layers, shape.kvHeads()));
    this.resources =
        device.own(
            CacheResources.open(
                cacheConfig,
                device.module,
                device.stream,
                pools,
                shape,
                AttentionLimits.NONE,
                4,
                new ReentrantLock()));
  }

  public CacheShape cacheShape() {
    return new CacheShape(layers, shape.kvHeads(), shape.headDim());
  }

  public DeviceCache newCache() {
    return new DeviceCache(resources, cacheShape());
  }

  /** Creates a cache whose pages are requantized. */
  public DeviceCache newCache(PageWidths widths) {
    return new DeviceCache(resources, cacheShape(), new RequantizingPages(resources, widths));
  }

  public int packedPages(DeviceCache cache) {
    return cache.pages().packedPages();
  }

  /** Returns the address of a packed page. */
  public long packedPage(DeviceCache cache, int page) {
    return cache.pages().packedPage(page);
  }

  /** Returns the width level of a layer's packed page that is requantized. */
  public int level(DeviceCache cache, int layer, int page) {
    return ((RequantizingPages) cache.pages()).level(group(layer), page);
  }

  /** Returns the address of a layer's packed page that is requantized. */
  public long requantizedPage(DeviceCache cache, int layer, int page) {
    RequantizingPages pages = (RequantizingPages) cache.pages();
    int group = group(layer);
    return pages.packedPage(group, page)
        + resources.levels().offset(pages.level(group, page), layer);
  }

  private int group(int layer) {
    return resources.levels().groups().group(layer);
  }

  public long[] tableEntries(DeviceCache cache) {
    return cache.pages().tableEntries();
  }

  /** Returns the fp16 page of a position, with its index in the page in the lower bits. */
  public long slot(DeviceCache cache, int position) {
    return cache.pages().slot(position);
  }

  /**
   * Appends rows to a device cache and to a host cache.
   *
   * @param rows by layer and side, halves // (count, kvHeads, headDim)
   */
  public void append(DeviceCache cache, KvCache host, short[][][] rows) {
    int width = shape.kvHeads() * shape.headDim();
    int count = rows[0][0].length / width;
    int first = cache.length();
    cache.reserve(first + count);
    host.reserve(first + count);
    MemorySegment slots = device.host(8L * count);
    for (int i = 0; i < count; i++) {
      slots.setAtIndex(JAVA_LONG, i, cache.pages().slot(first + i));
    }
    long slotsAddress = device.upload(slots).address();
    for (int layer = 0; layer < layers; layer++) {
      store.append(
          device.stream,
          count,
          slotsAddress,
          resources.offsets(layer).fp16(),
          device.upload(halves(rows[layer][0])).address(),
          device.upload(halves(rows[layer][1])).address());
      float[] keys = floats(rows[layer][0]);
      float[] values = floats(rows[layer][1]);
      for (int i = 0; i < count; i++) {
        host.append(layer, first + i, keys, i * width, values, i * width);
      }
    }
    cache.commit(count);
    host.commit(count);
    cache.quantizeWindow();
    host.quantizeWindow();
  }

  private MemorySegment halves(short[] values) {
    MemorySegment segment = device.host(2L * values.length);
    MemorySegment.copy(values, 0, segment, JAVA_SHORT, 0, values.length);
    return segment;
  }

  public static float[] floats(short[] halves) {
    float[] floats = new float[halves.length];
    for (int i = 0; i < halves.length; i++) {
      floats[i] = Float.float16ToFloat(halves[i]);
    }
    return floats;
  }

  /** Downloads bytes from a device address. */
  public MemorySegment read(long address, long bytes) {
    MemorySegment target = device.host(bytes);
    DeviceMemory.downloadFrom(device.stream, target, address, bytes);
    device.stream.synchronize();
    return target;
  }

  /** Returns a layer's outputs of a query to a whole sequence, as floats. */
  public float[] attend(DeviceCache cache, int layer, short[] queries) {
    try (PageTable table = new PageTable(device.context, 1, cache.pages().tableSize())) {
      cache.pages().addTo(table, cache.length());
      table.upload(device.stream);
      return attend(table, layer, queries);
    }
  }

  /** Returns the outputs of all layers for one token, which is counted once. */
  public float[][] attend(DeviceCache cache, short[][] queries) {
    try (PageTable table = new PageTable(device.context, 1, cache.pages().tableSize())) {
      cache.pages().addTo(table, cache.length());
      table.upload(device.stream);
      float[][] found = new float[layers][];
      for (int layer = 0; layer < layers; layer++) {
        found[layer] = attend(table, layer, queries[layer]);
      }
      return found;
    }
  }

  private float[] attend(PageTable table, int layer, short[] queries) {
    DeviceMemory out = device.memory(2L * queries.length);
    resources.attention().plan(table);
    resources.attention().selectLayer(resources.offsets(layer));
    resources
        .attention()
        .attend(device.stream, device.upload(halves(queries)).address(), out.address(), false);
    return floats(device.download(out).toArray(JAVA_SHORT));
  }
}
