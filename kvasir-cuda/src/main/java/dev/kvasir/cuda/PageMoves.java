package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Packs, unpacks and copies pages of all layers, in the order of a stream. */
final class PageMoves implements AutoCloseable {
  /** Pages at a time. */
  private static final int MOST = 256;

  private static final long[] NOTHING = {};

  private final Context context;
  private final Stream stream;
  private final PagePacker packer; // null where nothing is packed
  private final PagePacker.Layers layers;
  private final long halfBytes; // of a page in a layer
  private final long tableBytes;
  private final int besideLongs; // of a block
  private final Arena arena = Arena.ofShared();
  private final MemorySegment lists; // pairs, then what blocks have beside them
  private final DeviceMemory deviceLists;
  private boolean closed; // under the lock

  PageMoves(
      Context context,
      Stream stream,
      PagePacker packer,
      PagePacker.Layers layers,
      long halfBytes,
      long tableBytes) {
    this.context = context;
    this.stream = stream;
    this.packer = packer;
    this.layers = layers;
    this.halfBytes = halfBytes;
    this.tableBytes = tableBytes;
    this.besideLongs = packer == null ? 0 : packer.besideLongs(layers.count());
    long longs = 2L * MOST + (long) besideLongs * MOST / SequencePages.BLOCK_PAGES;
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
  private interface Work {
    void launch(Stream stream, int pages, long pairs, long beside, PagePacker.Layers layers);
  }

  /** What is done to pairs of pages that are listed on the device. */
  interface PairWork {
    void launch(Stream stream, int pages, long pairs);
  }

  /** Does something to pages, two by two those of a block. */
  void move(long[] from, long[] to, PairWork work) {
    inParts(
        from, to, NOTHING, (on, pages, pairs, beside, strides) -> work.launch(on, pages, pairs));
  }

  /**
   * @param halves full pages, two by two those of a block
   * @param packed where they go
   * @param beside what each block takes beside its pages
   */
  void pack(long[] halves, long[] packed, long[] beside) {
    inParts(halves, packed, beside, packer::pack);
  }

  /**
   * @param halves where they go
   */
  void unpack(long[] halves, long[] packed, long[] beside) {
    inParts(halves, packed, beside, packer::unpack);
  }

  /** Unpacks pages of one layer that are listed on the device. */
  void expand(Stream into, int pages, long pairs, long beside, int layer) {
    packer.unpack(into, pages, pairs, beside, layers.alone(layer));
  }

  private void inParts(long[] halves, long[] packed, long[] beside, Work work) {
    int longs = beside.length == 0 ? 0 : besideLongs;
    for (int from = 0; from < halves.length; from += MOST) {
      int count = Math.min(MOST, halves.length - from);
      int blocks = Math.ceilDiv(count, SequencePages.BLOCK_PAGES);
      for (int i = 0; i < count; i++) {
        lists.setAtIndex(JAVA_LONG, 2L * i, halves[from + i]);
        lists.setAtIndex(JAVA_LONG, 2L * i + 1, packed[from + i]);
      }
      int firstBlock = from / SequencePages.BLOCK_PAGES;
      MemorySegment.copy(
          beside, firstBlock * longs, lists, JAVA_LONG, 2L * Long.BYTES * count, blocks * longs);
      // Memory that is not pinned has been read when the call returns.
      deviceLists.upload(stream, 0, lists, Long.BYTES * (2L * count + blocks * longs));
      long pairs = deviceLists.address();
      work.launch(stream, count, pairs, pairs + 2L * Long.BYTES * count, layers);
    }
  }

  /** Copies a page of halves in all layers. */
  void copy(long from, long to) {
    for (int layer = 0; layer < layers.count(); layer++) {
      long offset = layer * layers.halfStride();
      DeviceMemory.copy(stream, to + offset, from + offset, halfBytes);
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
  void bringTable(MemorySegment from, long to, int layer) {
    DeviceMemory.bring(stream, to + layer * layers.tableStride(), from, tableBytes);
  }

  /** Reads a layer's pages of halves, one after another, and waits for them. */
  void readBack(long[] halves, int first, int count, int layer, MemorySegment to) {
    for (int i = 0; i < count; i++) {
      long from = halves[first + i] + layer * layers.halfStride();
      DeviceMemory.fetch(stream, to.asSlice(i * halfBytes, halfBytes), from, halfBytes);
    }
    stream.synchronize();
  }

  @Override
  public void close() {
    closed = true;
    Closing.all(packer, deviceLists, Closing.once(arena));
  }
}
