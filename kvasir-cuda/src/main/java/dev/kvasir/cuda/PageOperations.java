package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Packs, unpacks and copies pages of all layers, in the order of a stream. */
final class PageOperations implements AutoCloseable {
  /** Pages at a time. */
  private static final int MAX_PAGES = 256;

  private static final long[] NOTHING = {};

  private final CudaContext context;
  private final CudaStream stream;
  private final PageQuantizer quantizer; // null where nothing is packed
  private final PageQuantizer.LayerStrides layers;
  private final long fp16PageBytes; // of a page in a layer
  private final long tableBytes;
  private final int metadataLongs; // of a block
  private final Arena arena = Arena.ofShared();
  private final MemorySegment lists; // pairs, then what blocks have beside them
  private final DeviceMemory deviceLists;
  private boolean closed; // under the lock

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
    long longs = 2L * MAX_PAGES + (long) metadataLongs * MAX_PAGES / SequencePages.BLOCK_PAGES;
    this.lists = arena.allocate(Long.BYTES * longs, 16);
    this.deviceLists = context.allocate(lists.byteSize());
  }

  /**
   * Makes the device the one that this thread calls.
   *
   * @throws IllegalStateException where its engine is closed
   */
  void enter() {
    if (closed) {
      throw new IllegalStateException("this model is closed");
    }
    context.enter();
  }

  /** What is done to some pages that are listed on the device. */
  private interface PageTask {
    void launch(
        CudaStream stream, int pages, long pairs, long metadata, PageQuantizer.LayerStrides layers);
  }

  /** What is done to pairs of pages that are listed on the device. */
  interface PagePairTask {
    void launch(CudaStream stream, int pages, long pairs);
  }

  /** Does something to pages, two by two those of a block. */
  void runOnPairs(long[] from, long[] to, PagePairTask work) {
    inChunks(
        from, to, NOTHING, (on, pages, pairs, metadata, strides) -> work.launch(on, pages, pairs));
  }

  /**
   * @param halves full pages, two by two those of a block
   * @param packed where they go
   * @param beside what each block takes beside its pages
   */
  void quantize(long[] fp16, long[] packed, long[] metadata) {
    inChunks(fp16, packed, metadata, quantizer::quantize);
  }

  /**
   * @param halves where they go
   */
  void dequantize(long[] fp16, long[] packed, long[] metadata) {
    inChunks(fp16, packed, metadata, quantizer::dequantize);
  }

  /** Unpacks pages of one layer that are listed on the device. */
  void dequantizeLayer(CudaStream into, int pages, long pairs, long metadata, int layer) {
    quantizer.dequantize(into, pages, pairs, metadata, layers.only(layer));
  }

  private void inChunks(long[] fp16, long[] packed, long[] metadata, PageTask work) {
    int longs = metadata.length == 0 ? 0 : metadataLongs;
    for (int from = 0; from < fp16.length; from += MAX_PAGES) {
      int count = Math.min(MAX_PAGES, fp16.length - from);
      int blocks = Math.ceilDiv(count, SequencePages.BLOCK_PAGES);
      for (int i = 0; i < count; i++) {
        lists.setAtIndex(JAVA_LONG, 2L * i, fp16[from + i]);
        lists.setAtIndex(JAVA_LONG, 2L * i + 1, packed[from + i]);
      }
      int firstBlock = from / SequencePages.BLOCK_PAGES;
      MemorySegment.copy(
          metadata, firstBlock * longs, lists, JAVA_LONG, 2L * Long.BYTES * count, blocks * longs);
      // Memory that is not pinned has been read when the call returns.
      deviceLists.upload(stream, 0, lists, Long.BYTES * (2L * count + blocks * longs));
      long pairs = deviceLists.address();
      work.launch(stream, count, pairs, pairs + 2L * Long.BYTES * count, layers);
    }
  }

  /** Copies a page of halves in all layers. */
  void copy(long from, long to) {
    for (int layer = 0; layer < layers.count(); layer++) {
      long offset = layer * layers.fp16Stride();
      DeviceMemory.copy(stream, to + offset, from + offset, fp16PageBytes);
    }
  }

  /** Copies a page of tables in all layers. */
  void copyTable(long from, long to) {
    for (int layer = 0; layer < layers.count(); layer++) {
      long offset = layer * layers.tableStride();
      DeviceMemory.copy(stream, to + offset, from + offset, tableBytes);
    }
  }

  /** Sets a page of tables to zero in all layers. */
  void clearTable(long table) {
    for (int layer = 0; layer < layers.count(); layer++) {
      DeviceMemory.clear(stream, table + layer * layers.tableStride(), tableBytes);
    }
  }

  int layers() {
    return layers.count();
  }

  /** Brings a layer's page of tables from outside the heap. */
  void uploadTable(MemorySegment from, long to, int layer) {
    DeviceMemory.uploadTo(stream, to + layer * layers.tableStride(), from, tableBytes);
  }

  /** Reads a layer's pages of halves, one after another, and waits for them. */
  void download(long[] fp16, int first, int count, int layer, MemorySegment to) {
    for (int i = 0; i < count; i++) {
      long from = fp16[first + i] + layer * layers.fp16Stride();
      DeviceMemory.downloadFrom(
          stream, to.asSlice(i * fp16PageBytes, fp16PageBytes), from, fp16PageBytes);
    }
    stream.synchronize();
  }

  @Override
  public void close() {
    closed = true;
    Resources.closeAll(quantizer, deviceLists, Resources.closeOnce(arena));
  }
}
