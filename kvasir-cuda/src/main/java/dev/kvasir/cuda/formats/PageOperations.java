package dev.kvasir.cuda.formats;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PageTransfer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/** Quantizes, dequantizes and copies pages of all layers, in stream order. */
public final class PageOperations implements AutoCloseable {
  /** Pages per launch. */
  private static final int MAX_PAGES = 256;

  private static final long[] NOTHING = {};

  private final CudaContext context;
  private final CudaStream stream;
  private final PageQuantizer quantizer; // null if nothing is quantized
  private final PageQuantizer.LayerStrides layers;
  private final long fp16PageBytes; // of one layer
  private final long tableBytes;
  private final int metadataLongs; // per block
  private final Arena arena = Arena.ofShared();
  private final MemorySegment lists; // pairs, then the metadata of blocks
  private final DeviceMemory deviceLists;
  private boolean closed; // guarded by the lock

  PageOperations(
      CudaContext context,
      CudaStream stream,
      PageQuantizer quantizer,
      PageQuantizer.LayerStrides layers,
      long fp16PageBytes,
      long tableBytes) {
    this.context = context;
    this.stream = stream;
    this.quantizer = quantizer;
    this.layers = layers;
    this.fp16PageBytes = fp16PageBytes;
    this.tableBytes = tableBytes;
    this.metadataLongs = quantizer == null ? 0 : quantizer.metadataLongs(layers.count());
    long longs = 2L * MAX_PAGES + (long) metadataLongs * MAX_PAGES / Fp16Page.BLOCK_PAGES;
    this.lists = arena.allocate(Long.BYTES * longs, 16);
    this.deviceLists = context.allocate(lists.byteSize());
  }

  /**
   * Makes the device current for the calling thread.
   *
   * @throws IllegalStateException if the engine is closed
   */
  void enter() {
    if (closed) {
      throw new IllegalStateException("this model is closed");
    }
    context.enter();
  }

  /** A kernel launch for pages listed on the device. */
  private interface PageTask {
    void launch(
        CudaStream stream, int pages, long pairs, long metadata, PageQuantizer.LayerStrides layers);
  }

  /** A kernel launch for page pairs listed on the device. */
  public interface PagePairTask {
    void launch(CudaStream stream, int pages, long pairs);
  }

  /** Runs a task on pairs of pages; two consecutive pairs are a block. */
  public void runOnPairs(long[] from, long[] to, PagePairTask work) {
    inChunks(
        from, to, NOTHING, (on, pages, pairs, metadata, strides) -> work.launch(on, pages, pairs));
  }

  /**
   * Quantizes full fp16 pages.
   *
   * @param fp16 source pages, two consecutive ones per block
   * @param packed target pages
   * @param metadata metadata of each block
   */
  public void quantize(long[] fp16, long[] packed, long[] metadata) {
    inChunks(fp16, packed, metadata, quantizer::quantize);
  }

  /**
   * Dequantizes packed pages.
   *
   * @param fp16 target pages
   */
  public void dequantize(long[] fp16, long[] packed, long[] metadata) {
    inChunks(fp16, packed, metadata, quantizer::dequantize);
  }

  /** Dequantizes listed pages of one layer. */
  void dequantizeLayer(CudaStream into, int pages, long pairs, long metadata, int layer) {
    quantizer.dequantize(into, pages, pairs, metadata, layers.only(layer));
  }

  private void inChunks(long[] fp16, long[] packed, long[] metadata, PageTask work) {
    int longs = metadata.length == 0 ? 0 : metadataLongs;
    for (int from = 0; from < fp16.length; from += MAX_PAGES) {
      int count = Math.min(MAX_PAGES, fp16.length - from);
      int blocks = Math.ceilDiv(count, Fp16Page.BLOCK_PAGES);
      for (int i = 0; i < count; i++) {
        lists.setAtIndex(JAVA_LONG, 2L * i, fp16[from + i]);
        lists.setAtIndex(JAVA_LONG, 2L * i + 1, packed[from + i]);
      }
      int firstBlock = from / Fp16Page.BLOCK_PAGES;
      MemorySegment.copy(
          metadata, firstBlock * longs, lists, JAVA_LONG, 2L * Long.BYTES * count, blocks * longs);
      // Pageable memory has been read when the call returns.
      deviceLists.upload(stream, 0, lists, Long.BYTES * (2L * count + blocks * longs));
      long pairs = deviceLists.address();
      work.launch(stream, count, pairs, pairs + 2L * Long.BYTES * count, layers);
    }
  }

  /** Copies an fp16 page in all layers. */
  public void copy(long from, long to) {
    for (int layer = 0; layer < layers.count(); layer++) {
      long offset = layer * layers.fp16Stride();
      DeviceMemory.copy(stream, to + offset, from + offset, fp16PageBytes);
    }
  }

  /**
   * Copies some layers of fp16 pages to other fp16 pages.
   *
   * @param from addresses in the first of these layers
   * @param to addresses in the first of these layers
   */
  public void copyLayers(long[] from, long[] to, int count) {
    for (int page = 0; page < from.length; page++) {
      for (int layer = 0; layer < count; layer++) {
        long offset = layer * layers.fp16Stride();
        DeviceMemory.copy(stream, to[page] + offset, from[page] + offset, fp16PageBytes);
      }
    }
  }

  /** Copies a table page in all layers. */
  public void copyTable(long from, long to) {
    for (int layer = 0; layer < layers.count(); layer++) {
      long offset = layer * layers.tableStride();
      DeviceMemory.copy(stream, to + offset, from + offset, tableBytes);
    }
  }

  /** Sets a table page to zero in all layers. */
  public void clearTable(long table) {
    for (int layer = 0; layer < layers.count(); layer++) {
      DeviceMemory.clear(stream, table + layer * layers.tableStride(), tableBytes);
    }
  }

  /** Runs copies and waits for them. */
  void transfer(Consumer<PageTransfer.Copies> copies) {
    copies.accept(new StreamCopies(stream));
    stream.synchronize();
  }

  private record StreamCopies(CudaStream stream) implements PageTransfer.Copies {
    @Override
    public void download(MemorySegment target, long from, long bytes) {
      DeviceMemory.downloadFrom(stream, target, from, bytes);
    }

    @Override
    public void upload(long to, MemorySegment source, long bytes) {
      DeviceMemory.uploadTo(stream, to, source, bytes);
    }
  }

  /** A kernel launch for all layers. */
  public interface LayerTask {
    void launch(CudaStream stream, PageQuantizer.LayerStrides layers);
  }

  /** Launches a kernel in stream order with the other operations. */
  public void run(LayerTask work) {
    work.launch(stream, layers);
  }

  @Override
  public void close() {
    closed = true;
    Resources.closeAll(quantizer, deviceLists, Resources.closeOnce(arena));
  }
}
