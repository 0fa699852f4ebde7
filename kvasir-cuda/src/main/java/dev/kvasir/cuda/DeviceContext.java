package dev.kvasir.cuda;

import dev.kvasir.format.GgmlType;
import dev.kvasir.format.GgufFile;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.LoadProgress;
import dev.kvasir.model.ModelConfig;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Everything an engine holds on a device: CUDA context, stream, kernels, pools and other memory.
 */
final class DeviceContext implements AutoCloseable {
  /** Left free for the driver, graphs and later cache configurations. */
  private static final long RESERVED_BYTES = 512L << 20;

  private final CudaContext context;
  private final KernelModule module;
  private final CudaStream stream;
  private final ReentrantLock lock = new ReentrantLock();
  private final List<AutoCloseable> owned = new ArrayList<>(); // in order of creation
  private final Map<String, PagePool> pools = new HashMap<>(); // by content
  private final Map<DeviceCacheConfig, CacheResources> resourcesByConfig = new HashMap<>();
  private ModelConfig config;
  private MemoryPool memory;
  private int maxRows;

  private DeviceContext(CudaContext context) {
    this.context = context;
    owned.add(context);
    this.module = own(KernelModule.load(context));
    this.stream = own(CudaStream.open());
  }

  static DeviceContext open(Device device) {
    CudaContext context = CudaContext.open(device);
    try {
      return new DeviceContext(context);
    } catch (RuntimeException | Error e) {
      Resources.closeAfter(e, context);
      throw e;
    }
  }

  Device device() {
    return context.device();
  }

  ReentrantLock lock() {
    return lock;
  }

  void enter() {
    context.enter();
  }

  /** Uploads the weights of a file that {@link GgufWeightSource#check} has accepted. */
  DeviceWeights loadWeights(GgufFile file, ModelConfig model, LoadProgress progress) {
    long bytes = GgufWeightSource.bytes(file, model);
    long free = context.freeBytes();
    if (bytes > free) {
      throw new DeviceException(
          "%s: has weights of %,d bytes on a device; %s has %,d bytes free"
              .formatted(file.name(), bytes, device().name(), free));
    }
    return DeviceWeights.of(context, stream, file, model, progress);
  }

  DeviceWeights randomWeights(ModelConfig model, GgmlType type) {
    return DeviceWeights.random(context, stream, model, type);
  }

  DeviceDecoder newDecoder(ModelConfig model, DeviceWeights weights, int rows) {
    return own(new DeviceDecoder(context, module, stream, model, weights, rows));
  }

  /**
   * Creates the memory pool for caches from what is left of the device.
   *
   * @param maxBytes limit of the pool
   */
  void openCacheMemory(ModelConfig model, long maxBytes, int rows) {
    long leftFree = RESERVED_BYTES + DequantizedPages.maxBytes(model);
    long free = context.freeBytes() - leftFree;
    if (free < 1) {
      throw new DeviceException(
          "%s has %,d bytes free after loading the weights; expected more than %,d"
              .formatted(device().name(), context.freeBytes(), leftFree));
    }
    config = model;
    maxRows = rows;
    memory = new MemoryPool(Math.min(maxBytes, free));
  }

  MemoryPool memory() {
    return memory;
  }

  long bytes() {
    return context.allocatedBytes();
  }

  /** Returns the resources of a cache configuration, created on first use. */
  CacheResources resources(DeviceCacheConfig cacheConfig) {
    lock.lock();
    try {
      CacheResources cached = resourcesByConfig.get(cacheConfig);
      if (cached == null) {
        context.enter();
        cached = own(newResources(cacheConfig));
        resourcesByConfig.put(cacheConfig, cached);
      }
      return cached;
    } finally {
      lock.unlock();
    }
  }

  private CacheResources newResources(DeviceCacheConfig cacheConfig) {
    PageFormat format = cacheConfig.format();
    int headDim = config.headDim();
    PagePool fp16Pool = pool("fp16", PageFormat.FP16.pageBytes(headDim));
    PagePool packedPool =
        format.isQuantized() && !format.requantizes()
            ? pool(format.kernelName(), format.pageBytes(headDim))
            : null;
    int tableBytes = format.tableBytes(headDim);
    PagePool tablePool = tableBytes > 0 ? pool(format.kernelName() + " tables", tableBytes) : null;
    PageQuantizer.LayerStrides layers =
        new PageQuantizer.LayerStrides(
            config.layers(), fp16Pool.layerStride(), stride(packedPool), stride(tablePool));
    PageQuantizer quantizer =
        format.newQuantizer(module, stream, cacheConfig, config.attentionShape());
    PageOperations operations =
        new PageOperations(
            context,
            stream,
            quantizer,
            layers,
            fp16Pool.pageBytes(),
            tablePool == null ? 0 : tablePool.pageBytes());
    PagedAttention attention =
        new PagedAttention(module, stream, format, config.attentionShape(), maxRows);
    return new CacheResources(
        cacheConfig,
        fp16Pool,
        packedPool,
        tablePool,
        format.requantizes() ? newWidthPools(fp16Pool) : null,
        format instanceof MixkvqFormat mixkvq ? newWideChannels(mixkvq) : null,
        operations,
        attention,
        PrefillAttention.of(module, format, config.attentionShape()),
        lock);
  }

  private BitWidthPools newWidthPools(PagePool fp16Pool) {
    List<PagePool> packed = new ArrayList<>();
    for (int level = 1; level < PmkvqFormat.BITS.length; level++) {
      int bits = PmkvqFormat.BITS[level];
      packed.add(pool("width" + bits, new PackedPage(bits, config.headDim()).bytes()));
    }
    return new BitWidthPools(
        module, config.attentionShape(), config.layers(), fp16Pool, List.copyOf(packed));
  }

  private WideChannels newWideChannels(MixkvqFormat format) {
    PagePool extents =
        pools.computeIfAbsent(
            "extents", any -> own(new PagePool(context, memory, 1, WideChannels.EXTENT_BYTES)));
    return new WideChannels(module, format, config.attentionShape(), config.layers(), extents);
  }

  private static long stride(PagePool pool) {
    return pool == null ? 0 : pool.layerStride();
  }

  /**
   * @param headBytes bytes of a page of one KV head
   */
  private PagePool pool(String name, int headBytes) {
    long pageBytes = (long) config.kvHeads() * headBytes;
    return pools.computeIfAbsent(
        name, any -> own(new PagePool(context, memory, config.layers(), pageBytes)));
  }

  /** Fills pages with random numbers, except those that hold addresses. */
  void fillRandom() {
    context.enter();
    pools.forEach(
        (name, pool) -> {
          if (!name.equals(MixkvqFormat.NAME)) {
            pool.fillRandom(stream);
          }
        });
  }

  private <T extends AutoCloseable> T own(T each) {
    owned.add(each);
    return each;
  }

  @Override
  public void close() {
    owned.add(context::enter); // closed in reverse order, so this runs first
    Resources.closeAll(owned);
  }
}
