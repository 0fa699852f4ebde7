package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.PageWidths;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.memory.MemoryPool;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/** Caches of one kind on a device without an engine: rows are appended to all layers as given. */
final class DeviceHome {
  final KindPages pages;
  private final OpenDevice device;
  private final AttentionShape shape;
  private final int layers;
  private final RowStore store;

  DeviceHome(OpenDevice device, PageKind kind, AttentionShape shape, int layers) {
    this.device = device;
    this.shape = shape;
    this.layers = layers;
    this.store = new RowStore(device.module, shape);
    PageFormat format = kind.format();
    int headDim = shape.headDim();
    PagePool halves = pool(PageFormat.FP16.pageBytes(headDim));
    PagePool packed =
        format.isPacked() && !format.shrinks() ? pool(format.pageBytes(headDim)) : null;
    PagePool tables = format.tableBytes(headDim) > 0 ? pool(format.tableBytes(headDim)) : null;
    PagePacker.Layers strides =
        new PagePacker.Layers(
            layers,
            halves.layerStride(),
            packed == null ? 0 : packed.layerStride(),
            tables == null ? 0 : tables.layerStride());
    this.pages =
        device.keep(
            new KindPages(
                kind,
                halves,
                packed,
                tables,
                format.shrinks() ? widths(halves) : null,
                format instanceof MixedFormat mixed ? wider(mixed) : null,
                new PageMoves(
                    device.context,
                    device.stream,
                    format.packer(device.module, device.stream, kind, shape),
                    strides,
                    halves.pageBytes(),
                    tables == null ? 0 : tables.pageBytes()),
                new PagedAttention(device.module, device.stream, format, shape, 4),
                PromptAttention.of(device.module, format, shape),
                new ReentrantLock()));
  }

  private WidthPools widths(PagePool halves) {
    List<PagePool> packed = new ArrayList<>();
    for (int level = 1; level < WidthFormat.BITS.length; level++) {
      packed.add(pool(new PackedPage(WidthFormat.BITS[level], shape.headDim()).bytes()));
    }
    return new WidthPools(device.module, shape, layers, halves, packed);
  }

  private WiderChannels wider(MixedFormat format) {
    PagePool extents =
        device.keep(
            new PagePool(device.context, MemoryPool.unlimited(), 1, WiderChannels.EXTENT_BYTES));
    return new WiderChannels(device.module, format, shape, layers, extents);
  }

  private PagePool pool(int headBytes) {
    long pageBytes = (long) shape.kvHeads() * headBytes;
    return device.keep(new PagePool(device.context, MemoryPool.unlimited(), layers, pageBytes));
  }

  CacheShape cacheShape() {
    return new CacheShape(layers, shape.kvHeads(), shape.headDim());
  }

  DeviceCache newCache() {
    return new DeviceCache(pages, cacheShape());
  }

  /** One whose pages shrink. */
  DeviceCache newCache(PageWidths widths) {
    return new DeviceCache(pages, cacheShape(), new ShrinkingPages(pages, widths));
  }

  /**
   * Appends rows to a cache here and to the host's.
   *
   * @param rows by layer and side, halves // (count, kvHeads, headDim)
   */
  void append(DeviceCache cache, KvCache host, short[][][] rows) {
    int width = shape.kvHeads() * shape.headDim();
    int count = rows[0][0].length / width;
    int first = cache.length();
    cache.reserve(first + count);
    host.reserve(first + count);
    MemorySegment places = device.host(8L * count);
    for (int i = 0; i < count; i++) {
      places.setAtIndex(JAVA_LONG, i, cache.pages().place(first + i));
    }
    long placesAt = device.upload(places).address();
    for (int layer = 0; layer < layers; layer++) {
      store.append(
          device.stream,
          count,
          placesAt,
          pages.offsets(layer).halves(),
          device.upload(halves(rows[layer][0])).address(),
          device.upload(halves(rows[layer][1])).address());
      float[] keys = floats(rows[layer][0]);
      float[] values = floats(rows[layer][1]);
      for (int i = 0; i < count; i++) {
        host.append(layer, first + i, keys, i * width, values, i * width);
      }
    }
    cache.count(count);
    host.count(count);
    cache.settle();
    host.settle();
  }

  private MemorySegment halves(short[] values) {
    MemorySegment segment = device.host(2L * values.length);
    MemorySegment.copy(values, 0, segment, JAVA_SHORT, 0, values.length);
    return segment;
  }

  static float[] floats(short[] halves) {
    float[] floats = new float[halves.length];
    for (int i = 0; i < halves.length; i++) {
      floats[i] = Float.float16ToFloat(halves[i]);
    }
    return floats;
  }

  /** Bytes of the device from an address on. */
  MemorySegment read(long address, long bytes) {
    MemorySegment target = device.host(bytes);
    DeviceMemory.fetch(device.stream, target, address, bytes);
    device.stream.synchronize();
    return target;
  }

  /** A layer's outputs of a query to a whole sequence, halves of the device as floats. */
  float[] attend(DeviceCache cache, int layer, short[] queries) {
    try (PageTable table =
        new PageTable(device.context, 1, cache.pages().pages() + cache.pages().tablePages())) {
      cache.pages().describe(table, cache.length());
      table.upload(device.stream);
      return attend(table, layer, queries);
    }
  }

  /** The same of a token in all layers, which counts it once. */
  float[][] attend(DeviceCache cache, short[][] queries) {
    try (PageTable table =
        new PageTable(device.context, 1, cache.pages().pages() + cache.pages().tablePages())) {
      cache.pages().describe(table, cache.length());
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
    pages.attention().plan(table);
    pages.attention().atLayer(pages.offsets(layer));
    pages
        .attention()
        .attend(device.stream, device.upload(halves(queries)).address(), out.address(), false);
    return floats(device.download(out).toArray(JAVA_SHORT));
  }
}
