package dev.kvasir.cuda.engine;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.Device;
import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.formats.AttentionLimits;
import dev.kvasir.cuda.formats.CacheResources;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.PageFormat;
import dev.kvasir.cuda.kernels.DeviceWeights;
import dev.kvasir.cuda.kernels.FileWeightSource;
import dev.kvasir.cuda.memory.DequantizedPages;
import dev.kvasir.cuda.memory.PagePools;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.TensorSource;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.LayerRange;
import dev.kvasir.model.LoadProgress;
import dev.kvasir.model.ModelConfig;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;

/**
 * Everything an engine holds on a device: CUDA context, stream, kernels, pools and other memory.
 * Devices of an engine that has several share its lock.
 */
final class DeviceContext implements AutoCloseable {
  /** Left free for the driver, graphs and later cache configurations. */
  private static final long RESERVED_BYTES = 512L << 20;

  private final CudaContext context;
  private final KernelModule module;
  private final CudaStream stream;
  private final ReentrantLock lock;
  private final List<AutoCloseable> owned = new ArrayList<>(); // in order of creation
  private final Map<DeviceCacheConfig, CacheResources> resourcesByConfig = new HashMap<>();
  private ModelConfig config;
  private PagePools pools;
  private int maxRows;

  private DeviceContext(CudaContext context, ReentrantLock lock) {
    this.context = context;
    this.lock = lock;
    owned.add(context);
    this.module = own(KernelModule.load(context));
    this.stream = own(CudaStream.open());
  }

  /**
   * @param lock held while work is submitted
   */
  static DeviceContext open(Device device, ReentrantLock lock) {
    CudaContext context = CudaContext.open(device);
    try {
      return new DeviceContext(context, lock);
    } catch (RuntimeException | Error e) {
      Resources.closeAfter(e, context);
      throw e;
    }
  }

  Device device() {
    return context.device();
  }

  void enter() {
    context.enter();
  }

  long freeBytes() {
    context.enter();
    return context.freeBytes();
  }

  /**
   * Uploads the weights of a file that {@link FileWeightSource#check} has accepted.
   *
   * @param model of all layers
   */
  DeviceWeights loadWeights(
      TensorSource file, ModelConfig model, LayerRange range, LoadProgress progress) {
    context.enter();
    long bytes = FileWeightSource.bytes(file, model, range, device().hasWarpgroupProducts());
    long free = context.freeBytes();
    if (bytes > free) {
      throw new DeviceException(
          "%s: %s weights of %,d bytes on a device; %s has %,d bytes free"
              .formatted(file.name(), owner(range), bytes, device().name(), free));
    }
    return DeviceWeights.of(context, stream, file, model, range, progress);
  }

  private static String owner(LayerRange range) {
    return range.isWhole()
        ? "has"
        : "layers %d to %d have".formatted(range.first(), range.end() - 1);
  }

  DeviceWeights randomWeights(ModelConfig model, GgmlType type) {
    context.enter();
    return DeviceWeights.random(context, stream, model, type);
  }

  DeviceDecoder newDecoder(ModelConfig model, DeviceWeights weights, int rows) {
    context.enter();
    return own(new DeviceDecoder(context, module, stream, model, weights, rows));
  }

  /** Returns the bytes that neither weights nor caches take. */
  static long leftFree(ModelConfig model) {
    return RESERVED_BYTES + DequantizedPages.maxBytes(model);
  }

  /**
   * Returns the bytes that caches can take of what is left of the device.
   *
   * @param sharing engines' parts on this device, which divide it
   */
  long availableBytes(ModelConfig model, int sharing) {
    long leftFree = leftFree(model);
    long free = freeBytes() / sharing;
    if (free <= leftFree) {
      throw new DeviceException(
          "%s has %,d bytes free after loading the weights; expected more than %,d"
              .formatted(device().name(), free, leftFree));
    }
    return free - leftFree;
  }

  /** Creates the page pools of caches, whose bytes are taken from a memory pool. */
  void openCacheMemory(ModelConfig model, MemoryPool memory, int rows) {
    config = model;
    maxRows = rows;
    pools = own(new PagePools(context, memory, model.layers(), model.kvHeads()));
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
        cached =
            own(
                CacheResources.open(
                    cacheConfig,
                    module,
                    stream,
                    pools,
                    config.attentionShape(),
                    AttentionLimits.of(config),
                    maxRows,
                    lock));
        resourcesByConfig.put(cacheConfig, cached);
      }
      return cached;
    } finally {
      lock.unlock();
    }
  }

  /** Fills pages with random numbers, except those that hold addresses. */
  void fillRandom() {
    context.enter();
    Set<String> addresses =
        resourcesByConfig.keySet().stream()
            .map(DeviceCacheConfig::format)
            .filter(PageFormat::pagesHoldAddresses)
            .map(PageFormat::kernelName)
            .collect(Collectors.toSet());
    pools.fillRandom(stream, addresses);
  }

  /** Waits until all submitted work has run. */
  void synchronize() {
    context.enter();
    stream.synchronize();
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
