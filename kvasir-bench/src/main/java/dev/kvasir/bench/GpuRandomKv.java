package dev.kvasir.bench;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.formats.KvAppendKernel;
import dev.kvasir.cuda.formats.PageFormat;
import dev.kvasir.cuda.formats.PageQuantizer;
import dev.kvasir.cuda.formats.mixkvq.MixkvqFormat;
import dev.kvasir.cuda.memory.LayerOffsets;
import dev.kvasir.cuda.memory.PageTable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;

/**
 * Random KV pages on a device, in several copies that one page table addresses as layers. Together
 * they exceed the device's L2 cache, so that reading them in turn reads memory.
 */
final class GpuRandomKv implements AutoCloseable {
  private static final long TARGET_BYTES = 800_000_000L;
  private static final int MAX_COPIES = 64;

  /** Distinct pages, which then repeat. */
  private static final int DISTINCT_PAGES = 64;

  private final CudaContext context;
  private final CudaStream stream;
  private final GpuKind kind;
  private final PageFormat format;
  private final GpuShape shape;
  private final int copies;
  private final DeviceMemory memory;
  private final Optional<DeviceMemory> widerChannels; // channels stored outside of the pages
  private final DeviceMemory tables; // of sequences, next to their pages
  private final PageTable table;

  GpuRandomKv(
      CudaContext context, KernelModule module, CudaStream stream, GpuKind kind, GpuShape shape) {
    this.context = context;
    this.stream = stream;
    this.kind = kind;
    this.format = kind.format();
    this.shape = shape;
    this.copies = Math.clamp(Math.ceilDiv(TARGET_BYTES, copyBytes()), 2, MAX_COPIES);
    try (DeviceMemory pages = pages(module)) {
      // The last fill may extend beyond the last copy.
      this.memory = context.allocate(copies * copyBytes() + pages.bytes());
      for (long at = 0; at < copies * copyBytes(); at += pages.bytes()) {
        memory.copy(stream, at, pages);
      }
      stream.synchronize();
    }
    this.widerChannels =
        format instanceof MixkvqFormat
            ? Optional.of(
                MixkvqFormat.dummyWideChannels(
                    module, stream, shape.heads().headDim(), memory, copies * copyBytes()))
            : Optional.empty();
    this.tables = random(context, Math.max(1, shape.batch() * tablePages() * tableBytes()));
    this.table = table();
  }

  /** For one sequence. */
  private long tablePages() {
    return format.tablePages(shape.pages() / 2);
  }

  /** For all KV heads. */
  private long tableBytes() {
    return (long) shape.heads().kvHeads() * format.tableBytes(shape.heads().headDim());
  }

  /** Allocates random bytes that contain no infinite halves. */
  private DeviceMemory random(CudaContext context, long bytes) {
    DeviceMemory made = context.allocate(bytes);
    made.fillRandom(stream);
    return made;
  }

  /** Returns the distance between copies in bytes. */
  long copyBytes() {
    return shape.bytes(kind);
  }

  /** Returns the offsets of a copy relative to the pages in the table. */
  LayerOffsets offsets(int copy) {
    long offset = copy * copyBytes();
    return new LayerOffsets(0, offset, offset, 0, offset, offset, 0);
  }

  int copies() {
    return copies;
  }

  private PageTable table() {
    int entries = shape.batch() * (shape.pages() + (int) tablePages());
    PageTable made = new PageTable(context, shape.batch(), entries);
    long address = memory.address();
    long tableAddress = tables.address();
    for (int s = 0; s < shape.batch(); s++) {
      addPages(made, address);
      address += shape.pages() * shape.pageBytes(kind);
      for (int page = 0; page < tablePages(); page++) {
        made.addTable(tableAddress, format.tableEntries());
        tableAddress += tableBytes();
      }
    }
    made.upload(stream);
    stream.synchronize();
    return made;
  }

  private void addPages(PageTable made, long address) {
    long[] pages = new long[shape.pages()];
    Arrays.setAll(pages, page -> address + page * shape.pageBytes(kind) | GpuShape.PAGE_TOKENS - 1);
    int packed = format.isQuantized() ? pages.length : 0;
    if (kind.bits() == format.bits()) {
      made.addSequence(pages, packed, pages.length - packed, GpuShape.PAGE_TOKENS, new long[0]);
    } else { // requantized to 4 or 2 bits
      int fours = kind.bits() == 4 ? pages.length : 0;
      made.addSequence(new long[0], 0, 0, GpuShape.PAGE_TOKENS, pages, fours, pages.length - fours);
    }
  }

  /** Creates random pages, appended and quantized like real ones. */
  private DeviceMemory pages(KernelModule module) {
    KvAppendKernel store = new KvAppendKernel(module, shape.heads());
    int rows = DISTINCT_PAGES * GpuShape.PAGE_TOKENS;
    int width = shape.heads().kvHeads() * shape.heads().headDim();
    long halfBytes = shape.fp16PageBytes();
    DeviceMemory halves = context.allocate(DISTINCT_PAGES * halfBytes);
    long[] places = new long[rows];
    for (int row = 0; row < rows; row++) {
      places[row] =
          page(halves, row / GpuShape.PAGE_TOKENS, halfBytes) | row % GpuShape.PAGE_TOKENS;
    }
    try (DeviceMemory keys = random(context, stream, rows * width, 1);
        DeviceMemory values = random(context, stream, rows * width, 2);
        DeviceMemory at = longs(places)) {
      store.append(stream, rows, at.address(), 0, keys.address(), values.address());
      stream.synchronize();
    }
    return format.isQuantized() ? packed(module, halves) : halves;
  }

  private DeviceMemory packed(KernelModule module, DeviceMemory halves) {
    PageQuantizer quantizer =
        format.newQuantizer(module, stream, kind.cacheConfig(), shape.heads());
    if (quantizer == null
        || quantizer.metadataLongs() > 0) { // it would need data that only a sequence has
      halves.close();
      return random(context, DISTINCT_PAGES * shape.pageBytes(kind));
    }
    DeviceMemory packed = context.allocate(DISTINCT_PAGES * shape.pageBytes(kind));
    long[] pairs = new long[2 * DISTINCT_PAGES];
    for (int page = 0; page < DISTINCT_PAGES; page++) {
      pairs[2 * page] = page(halves, page, shape.fp16PageBytes());
      pairs[2 * page + 1] = page(packed, page, shape.pageBytes(kind));
    }
    try (halves;
        DeviceMemory list = longs(pairs)) {
      quantizer.quantize(stream, DISTINCT_PAGES, list.address(), 0, PageQuantizer.LayerStrides.ONE);
      stream.synchronize();
    }
    return packed;
  }

  private static long page(DeviceMemory memory, int page, long bytes) {
    return memory.address() + page * bytes;
  }

  private DeviceMemory longs(long[] numbers) {
    return uploaded(context, stream, MemorySegment.ofArray(numbers));
  }

  /** Allocates normally distributed halves. */
  static DeviceMemory random(CudaContext context, CudaStream stream, int count, long seed) {
    Random random = new Random(seed);
    short[] halves = new short[count];
    for (int i = 0; i < count; i++) {
      halves[i] = Float.floatToFloat16((float) random.nextGaussian());
    }
    return uploaded(context, stream, MemorySegment.ofArray(halves));
  }

  private static DeviceMemory uploaded(
      CudaContext context, CudaStream stream, MemorySegment source) {
    DeviceMemory memory = context.allocate(source.byteSize());
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment copy = arena.allocate(source.byteSize(), 64).copyFrom(source);
      memory.upload(stream, 0, copy, copy.byteSize());
      stream.synchronize();
    }
    return memory;
  }

  /** Returns the page table of the first copy. */
  PageTable pageTable() {
    return table;
  }

  @Override
  public void close() {
    table.close();
    tables.close();
    widerChannels.ifPresent(DeviceMemory::close);
    memory.close();
  }
}
