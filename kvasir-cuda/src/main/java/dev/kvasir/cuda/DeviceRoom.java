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
 * What an engine has of a device: its context, its stream, and all that was taken there, in pages
 * and otherwise.
 */
final class DeviceRoom implements AutoCloseable {
  /** Of the device, for the driver, graphs, and kinds of pages that come later. */
  private static final long LEFT_FREE = 512L << 20;

  private final Context context;
  private final KernelModule module;
  private final Stream stream;
  private final ReentrantLock lock = new ReentrantLock();
  private final List<AutoCloseable> taken = new ArrayList<>(); // in the order in which it was
  private final Map<String, PagePool> pools = new HashMap<>(); // by what lies there
  private final Map<PageKind, KindPages> kinds = new HashMap<>();
  private ModelConfig config;
  private MemoryPool memory;
  private int mostRows;

  private DeviceRoom(Context context) {
    this.context = context;
    taken.add(context);
    this.module = keep(KernelModule.load(context));
    this.stream = keep(Stream.open());
  }

  static DeviceRoom open(Device device) {
    Context context = Context.open(device);
    try {
      return new DeviceRoom(context);
    } catch (RuntimeException | Error e) {
      Closing.after(e, context);
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

  /** Brings the weights of a file, which {@link GgufWeights#check} has let pass. */
  DeviceWeights load(GgufFile file, ModelConfig model, LoadProgress progress) {
    long bytes = GgufWeights.bytes(file, model);
    long free = context.freeBytes();
    if (bytes > free) {
      throw new DeviceRefusal(
          "%s: has weights of %,d bytes on a device; %s has %,d bytes free"
              .formatted(file.name(), bytes, device().name(), free));
    }
    return DeviceWeights.of(context, stream, file, model, progress);
  }

  DeviceWeights random(ModelConfig model, GgmlType type) {
    return DeviceWeights.random(context, stream, model, type);
  }

  DeviceDecoder decoder(ModelConfig model, DeviceWeights weights, int rows) {
    return keep(new DeviceDecoder(context, module, stream, model, weights, rows));
  }

  /**
   * From now on there are pages, in what is left of the device.
   *
   * @param mostBytes that they may take
   */
  void holdPages(ModelConfig model, long mostBytes, int rows) {
    long leftFree = LEFT_FREE + ExpandedPages.mostBytes(model);
    long free = context.freeBytes() - leftFree;
    if (free < 1) {
      throw new DeviceRefusal(
          "%s has %,d bytes free beside the weights; expected more than %,d"
              .formatted(device().name(), context.freeBytes(), leftFree));
    }
    config = model;
    mostRows = rows;
    memory = new MemoryPool(Math.min(mostBytes, free));
  }

  MemoryPool memory() {
    return memory;
  }

  long bytes() {
    return context.takenBytes();
  }

  /** Where sequences of a kind have their pages. */
  KindPages pages(PageKind kind) {
    lock.lock();
    try {
      KindPages known = kinds.get(kind);
      if (known == null) {
        context.enter();
        known = keep(newPages(kind));
        kinds.put(kind, known);
      }
      return known;
    } finally {
      lock.unlock();
    }
  }

  private KindPages newPages(PageKind kind) {
    PageFormat format = kind.format();
    int headDim = config.headDim();
    PagePool halves = pool("fp16", PageFormat.FP16.pageBytes(headDim));
    PagePool packed =
        format.isPacked() && !format.shrinks()
            ? pool(format.kernelName(), format.pageBytes(headDim))
            : null;
    int tableBytes = format.tableBytes(headDim);
    PagePool tables = tableBytes > 0 ? pool(format.kernelName() + " tables", tableBytes) : null;
    PagePacker.Layers layers =
        new PagePacker.Layers(
            config.layers(), halves.layerStride(), stride(packed), stride(tables));
    PagePacker packer = format.packer(module, stream, kind, config.attentionShape());
    PageMoves moves =
        new PageMoves(
            context,
            stream,
            packer,
            layers,
            halves.pageBytes(),
            tables == null ? 0 : tables.pageBytes());
    PagedAttention attention =
        new PagedAttention(module, stream, format, config.attentionShape(), mostRows);
    return new KindPages(
        kind,
        halves,
        packed,
        tables,
        format.shrinks() ? widths(halves) : null,
        format instanceof MixedFormat mixed ? wider(mixed) : null,
        moves,
        attention,
        PromptAttention.of(module, format, config.attentionShape()),
        lock);
  }

  private WidthPools widths(PagePool halves) {
    List<PagePool> packed = new ArrayList<>();
    for (int level = 1; level < WidthFormat.BITS.length; level++) {
      int bits = WidthFormat.BITS[level];
      packed.add(pool("width" + bits, new PackedPage(bits, config.headDim()).bytes()));
    }
    return new WidthPools(
        module, config.attentionShape(), config.layers(), halves, List.copyOf(packed));
  }

  private WiderChannels wider(MixedFormat format) {
    PagePool extents =
        pools.computeIfAbsent(
            "extents", any -> keep(new PagePool(context, memory, 1, WiderChannels.EXTENT_BYTES)));
    return new WiderChannels(module, format, config.attentionShape(), config.layers(), extents);
  }

  private static long stride(PagePool pool) {
    return pool == null ? 0 : pool.layerStride();
  }

  /**
   * @param headBytes of a page of one KV head
   */
  private PagePool pool(String name, int headBytes) {
    long pageBytes = (long) config.kvHeads() * headBytes;
    return pools.computeIfAbsent(
        name, any -> keep(new PagePool(context, memory, config.layers(), pageBytes)));
  }

  /** Pages that say where something else lies stay as they were packed. */
  void scramble() {
    context.enter();
    pools.forEach(
        (name, pool) -> {
          if (!name.equals(MixedFormat.NAME)) {
            pool.scramble(stream);
          }
        });
  }

  private <T extends AutoCloseable> T keep(T each) {
    taken.add(each);
    return each;
  }

  @Override
  public void close() {
    taken.add(context::enter); // the last is the first
    Closing.all(taken);
  }
}
