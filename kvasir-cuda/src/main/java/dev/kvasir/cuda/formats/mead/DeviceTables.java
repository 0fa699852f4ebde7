package dev.kvasir.cuda.formats.mead;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.codec.mead.MeadParameters;
import dev.kvasir.codec.mead.TableKind;
import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.kernel.RowCodeLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The tables of a model on a device. As an argument, with the offsets in meadpages.cuh:
 *
 * <pre>
 *  0 u64 heads  {@link HeadRecord}     40 u64 values of the first layer   80 u32 first position
 *  8 u64 codes  {@link CodeRecord}     48 u64 constants                   84 u32 pages with angles
 * 16 u64 table rows                    56 u64 block angles                88 u32 kind
 * 24 u64 rows of token ids             64 u64 page angles                 92 u32 rows of a table
 * 32 u64 keys of the first layer       72 u64 pair order                  96 u32 token ids with rows
 *                                                                        100 u32 of the first layer
 * </pre>
 *
 * Attention reads it from device memory, followed by its layer and the bytes of a chunk's slot.
 */
final class DeviceTables implements AutoCloseable {
  /** Size of the argument. */
  static final int BYTES = 104;

  private static final int LAYER_BYTES = BYTES + 8;
  private static final int CONSTANT_BYTES = 136;

  private final CudaContext context;
  private final CudaStream stream;
  private final MeadModel model;
  private final MeadParameters parameters;
  private final List<AutoCloseable> owned = new ArrayList<>();
  private final MemorySegment argument = Arena.ofAuto().allocate(BYTES, 8);
  private final DeviceMemory layers;

  DeviceTables(CudaContext context, CudaStream stream, MeadModel model) {
    this.context = context;
    this.stream = stream;
    this.model = model;
    this.parameters = model.parameters();
    try {
      fillArgument();
      this.layers = upload((long) parameters.layers() * LAYER_BYTES, to -> putLayers(to, argument));
    } catch (RuntimeException | Error e) {
      Resources.closeAfter(e, this);
      throw e;
    }
  }

  static long bytes(MeadModel model) {
    MeadParameters parameters = model.parameters();
    RopeAngles angles = new RopeAngles(model.rotation(), model.headDim());
    long ofHead =
        new HeadRecord(model.headDim()).bytes()
            + new CodeRecord(model.headDim()).bytes()
            + rowBytes(parameters);
    long ofFirst =
        parameters
            .firstLayer()
            .map(rows -> rows.keys().byteSize() + rows.values().byteSize())
            .orElse(0L);
    return (long) parameters.layers() * parameters.kvHeads() * ofHead
        + ofFirst
        + (long) Integer.BYTES * parameters.tokenRows().length
        + angles.blockBytes()
        + angles.pageBytes(pages(model));
  }

  private static long rowBytes(MeadParameters parameters) {
    return parameters.head(0, 0).base(true).data().byteSize();
  }

  private static int pages(MeadModel model) {
    return Math.max(1, Math.ceilDiv(model.positions(), Fp16Page.TOKENS));
  }

  private void fillArgument() {
    int headDim = model.headDim();
    RopeAngles angles = new RopeAngles(model.rotation(), headDim);
    int rows = parameters.head(0, 0).base(true).rows();
    argument.set(JAVA_LONG, 0, uploadHeads(new HeadRecord(headDim).bytes(), this::putHead));
    argument.set(JAVA_LONG, 8, uploadHeads(new CodeRecord(headDim).bytes(), this::putCodes));
    argument.set(JAVA_LONG, 16, uploadHeads((int) rowBytes(parameters), this::putRows));
    argument.set(JAVA_LONG, 24, tokenRows());
    parameters
        .firstLayer()
        .ifPresent(
            first -> {
              argument.set(JAVA_LONG, 32, upload(first.keys()).address());
              argument.set(JAVA_LONG, 40, upload(first.values()).address());
              argument.set(JAVA_INT, 100, first.vocabulary());
            });
    argument.set(JAVA_LONG, 48, upload(CONSTANT_BYTES, DeviceTables::putConstants).address());
    argument.set(JAVA_LONG, 56, upload(angles.blockBytes(), angles::putBlock).address());
    int pages = pages(model);
    argument.set(
        JAVA_LONG,
        64,
        upload(angles.pageBytes(pages), to -> angles.putPages(model.firstPosition(), pages, to))
            .address());
    argument.set(JAVA_LONG, 72, upload(angles.orderBytes(), angles::putOrder).address());
    argument.set(JAVA_INT, 80, model.firstPosition());
    argument.set(JAVA_INT, 84, pages);
    argument.set(JAVA_INT, 88, kind());
    argument.set(JAVA_INT, 92, rows);
    argument.set(JAVA_INT, 96, parameters.tokenRows().length);
  }

  private int kind() {
    return switch (parameters.kind()) {
      case TableKind.OFF -> 0;
      case TableKind.CENTROIDS -> 1;
      case TableKind.TOKENS -> 2;
    };
  }

  private long tokenRows() {
    int[] rows = parameters.tokenRows();
    return rows.length == 0
        ? 0
        : upload(
                (long) Integer.BYTES * rows.length,
                to -> MemorySegment.copy(rows, 0, to, JAVA_INT, 0, rows.length))
            .address();
  }

  private interface HeadWriter {
    void put(int layer, int kvHead, MemorySegment to);
  }

  private long uploadHeads(int bytes, HeadWriter writer) {
    int heads = parameters.layers() * parameters.kvHeads();
    DeviceMemory memory = own(context.allocate((long) heads * bytes));
    try (Arena arena = Arena.ofConfined()) {
      for (int head = 0; head < heads; head++) {
        MemorySegment record = arena.allocate(bytes, 16);
        writer.put(head / parameters.kvHeads(), head % parameters.kvHeads(), record);
        memory.upload(stream, (long) head * bytes, record, bytes);
      }
      stream.synchronize();
    }
    return memory.address();
  }

  private void putHead(int layer, int kvHead, MemorySegment to) {
    MeadParameters.Head head = parameters.head(layer, kvHead);
    new HeadRecord(model.headDim())
        .put(
            head,
            model.layout().part(layer, kvHead, true),
            model.layout().part(layer, kvHead, false),
            parameters.isTokenDetermined(layer),
            units(head),
            model.rotation().table(model.headDim()),
            to);
  }

  private void putCodes(int layer, int kvHead, MemorySegment to) {
    MeadParameters.Head head = parameters.head(layer, kvHead);
    new CodeRecord(model.headDim())
        .put(
            head,
            model.layout().part(layer, kvHead, true).layout(),
            model.layout().part(layer, kvHead, false).layout(),
            units(head),
            to);
  }

  /** Returns units of mean errors; zeros if these are not stored. */
  private float[] units(MeadParameters.Head head) {
    return parameters.storesMeanErrors() ? head.meanUnits() : new float[model.headDim()];
  }

  /** Copies the rows of keys and values, which alternate. */
  private void putRows(int layer, int kvHead, MemorySegment to) {
    MemorySegment rows = parameters.head(layer, kvHead).base(true).data();
    MemorySegment.copy(rows, 0, to, 0, rows.byteSize());
  }

  private static void putConstants(MemorySegment to) {
    double[] thresholds = MeadParameters.scaleThresholds();
    MemorySegment.copy(thresholds, 0, to, JAVA_DOUBLE, 0, thresholds.length);
    long at = (long) Double.BYTES * thresholds.length;
    MemorySegment.copy(RowCodeLayout.scales(), 0, to, JAVA_FLOAT, at, RowCodeLayout.SCALES);
    at += (long) Float.BYTES * RowCodeLayout.SCALES;
    for (int bits = 0; bits <= RowCodeLayout.MAX_BITS; bits++) {
      to.set(JAVA_FLOAT, at + (long) Float.BYTES * bits, MeadParameters.unitStep(bits));
    }
  }

  private void putLayers(MemorySegment to, MemorySegment tables) {
    for (int layer = 0; layer < parameters.layers(); layer++) {
      long at = (long) layer * LAYER_BYTES;
      MemorySegment.copy(tables, 0, to, at, BYTES);
      to.set(JAVA_INT, at + BYTES, layer);
      int slot = new MeadMemoryLayout(model.headDim()).slotBytes(model.layout().maxChunkBytes());
      to.set(JAVA_INT, at + BYTES + 4, slot);
    }
  }

  private DeviceMemory upload(MemorySegment from) {
    return upload(from.byteSize(), to -> to.copyFrom(from));
  }

  private DeviceMemory upload(long bytes, Consumer<MemorySegment> fill) {
    DeviceMemory memory = own(context.allocate(bytes));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment all = arena.allocate(bytes, 16);
      fill.accept(all);
      memory.upload(stream, 0, all, bytes);
      stream.synchronize();
    }
    return memory;
  }

  private <T extends AutoCloseable> T own(T resource) {
    owned.add(resource);
    return resource;
  }

  /** Writes the argument of a launch. */
  void put(MemorySegment arguments, int at) {
    MemorySegment.copy(argument, 0, arguments, at, BYTES);
  }

  /** Returns the address of what attention reads in a layer. */
  long layerAddress(int layer) {
    return layers.address() + (long) layer * LAYER_BYTES;
  }

  @Override
  public void close() {
    Resources.closeAll(owned);
  }
}
