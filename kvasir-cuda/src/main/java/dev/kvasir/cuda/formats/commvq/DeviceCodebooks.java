package dev.kvasir.cuda.formats.commvq;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.codec.commvq.Codebook;
import dev.kvasir.codec.commvq.CompactLayerCodebooks;
import dev.kvasir.codec.commvq.LayerCodebooks;
import dev.kvasir.codec.commvq.ModelCodebooks;
import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.Rotation;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The codebooks of a model on a device, in the forms that attention and the code search read, with
 * RoPE tables.
 *
 * <pre>
 * keys           (layers, kvHeads) of {@link CodebookTableLayout}
 * values         (layers, kvHeads) of {@link CodebookTableLayout}
 * search tables  (layers, keys and values, kvHeads) times f32
 *                  (stages, 2, 64, headDim) rows; (stages, second 64, first 64) squares; (headDim) mean
 * token RoPE     {@link CodebookTableLayout#putRope}
 * block RoPE     (128, headDim / 2) f32 cosine and sine of a token index in a block
 * page RoPE      (pages, headDim / 2) f32 cosine and sine of a page's first position
 * pair order     (2, headDim / 2) u16 channels of pairs
 * </pre>
 */
final class DeviceCodebooks implements AutoCloseable {
  private static final int ROWS = AdditiveStages.ROWS;
  private static final int COS_SIN_BYTES = 2 * Float.BYTES;

  private final CudaContext context;
  private final CudaStream stream;
  private final ModelCodebooks source;
  private final CodebookTableLayout layout;
  private final int headDim;
  private final int firstPosition;
  private final int ropePages;
  private final List<AutoCloseable> owned = new ArrayList<>();
  private final DeviceMemory keys;
  private final DeviceMemory values;
  private final DeviceMemory searchTables;
  private final DeviceMemory tokenRope;
  private final DeviceMemory blockRope;
  private final DeviceMemory pageRope;
  private final DeviceMemory pairOrder;

  /**
   * @param firstPosition position of a sequence's first packed page
   * @param positions number of positions that the page RoPE table covers
   */
  DeviceCodebooks(
      CudaContext context,
      CudaStream stream,
      ModelCodebooks source,
      int firstPosition,
      int positions) {
    this.context = context;
    this.stream = stream;
    this.source = source;
    LayerCodebooks any = source.layers().getFirst();
    this.headDim = any.keyDim();
    this.layout = new CodebookTableLayout(headDim, any.keyStages());
    this.firstPosition = firstPosition;
    this.ropePages = Math.max(1, Math.ceilDiv(positions, Fp16Page.TOKENS));
    try {
      this.keys = allocate((long) heads() * layout.keyBytes());
      this.values = allocate((long) heads() * layout.valueBytes());
      this.searchTables = allocate(2L * heads() * searchFloats() * Float.BYTES);
      Rotation rotation = source.rotation();
      RopeTable table = rotation.table(headDim);
      this.tokenRope = filled(layout.ropeBytes(), to -> layout.putRope(table, to));
      this.blockRope =
          filled((long) blockTokens() * headDim / 2 * COS_SIN_BYTES, to -> putBlockRope(table, to));
      this.pageRope =
          filled((long) ropePages * headDim / 2 * COS_SIN_BYTES, to -> putPageRope(rotation, to));
      this.pairOrder =
          filled((long) headDim * Short.BYTES, to -> putPairOrder(rotation.pairOrder(headDim), to));
      uploadTables();
    } catch (RuntimeException | Error e) {
      Resources.closeAfter(e, this);
      throw e;
    }
  }

  /** Returns the bytes that the codebooks of a model take on a device, without RoPE tables. */
  static long bytes(int layers, int kvHeads, int headDim, int stages) {
    CodebookTableLayout layout = new CodebookTableLayout(headDim, stages);
    long searched = 2L * searchFloats(headDim, stages) * Float.BYTES;
    return (long) layers * kvHeads * (layout.keyBytes() + layout.valueBytes() + searched);
  }

  private static int blockTokens() {
    return Fp16Page.BLOCK_PAGES * Fp16Page.TOKENS;
  }

  private static int searchFloats(int headDim, int stages) {
    return stages * (2 * ROWS * headDim + ROWS * ROWS) + headDim;
  }

  private int searchFloats() {
    return searchFloats(headDim, layout.stages());
  }

  int kvHeads() {
    return source.layers().getFirst().kvHeads();
  }

  int layers() {
    return source.layers().size();
  }

  private int heads() {
    return layers() * kvHeads();
  }

  private DeviceMemory allocate(long bytes) {
    DeviceMemory memory = context.allocate(bytes);
    owned.add(memory);
    return memory;
  }

  private DeviceMemory filled(long bytes, Consumer<MemorySegment> fill) {
    DeviceMemory memory = allocate(bytes);
    upload(memory, 0, bytes, fill);
    return memory;
  }

  private void upload(DeviceMemory memory, long at, long bytes, Consumer<MemorySegment> fill) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment all = arena.allocate(bytes, 64);
      fill.accept(all);
      memory.upload(stream, at, all, bytes);
      stream.synchronize();
    }
  }

  /** Uploads all layers; a layer with the codebooks of the previous one is copied on the device. */
  private void uploadTables() {
    for (int layer = 0; layer < layers(); layer++) {
      if (layer > 0 && source.layers().get(layer) == source.layers().get(layer - 1)) {
        repeat(keys, layer);
        repeat(values, layer);
        repeat(searchTables, layer);
      } else {
        uploadLayer(layer);
      }
    }
    stream.synchronize();
  }

  private void repeat(DeviceMemory memory, int layer) {
    long bytes = memory.bytes() / layers();
    long to = memory.address() + layer * bytes;
    DeviceMemory.copy(stream, to, to - bytes, bytes);
  }

  private void uploadLayer(int layer) {
    CompactLayerCodebooks layerCodebooks = source.rows().get(layer);
    LayerCodebooks books = source.layers().get(layer);
    for (int head = 0; head < kvHeads(); head++) {
      int own = head;
      long place = (long) layer * kvHeads() + head;
      upload(
          keys,
          place * layout.keyBytes(),
          layout.keyBytes(),
          to -> layout.putKeys(layerCodebooks.keys().get(own), to));
      upload(
          values,
          place * layout.valueBytes(),
          layout.valueBytes(),
          to ->
              layout.putValues(
                  layerCodebooks.values().get(own), layerCodebooks.valueMeans().get(own), to));
      uploadSearchTable(books.keys().get(head), 2L * layer * kvHeads() + head);
      uploadSearchTable(books.values().get(head), (2L * layer + 1) * kvHeads() + head);
    }
  }

  private void uploadSearchTable(Codebook book, long place) {
    long bytes = (long) searchFloats() * Float.BYTES;
    upload(searchTables, place * bytes, bytes, to -> putSearchTable(book, to));
  }

  private void putSearchTable(Codebook book, MemorySegment to) {
    AdditiveStages stages = book.stages();
    float[] rows = stages.rows();
    int at = 0;
    for (float each : rows) {
      to.setAtIndex(JAVA_FLOAT_UNALIGNED, at++, each);
    }
    for (int stage = 0; stage < stages.stages(); stage++) {
      for (int b = 0; b < ROWS; b++) {
        for (int a = 0; a < ROWS; a++) {
          to.setAtIndex(JAVA_FLOAT_UNALIGNED, at++, stages.square(stage, a, b));
        }
      }
    }
    for (float each : book.mean()) {
      to.setAtIndex(JAVA_FLOAT_UNALIGNED, at++, each);
    }
  }

  private void putBlockRope(RopeTable table, MemorySegment to) {
    int half = headDim / 2;
    for (int token = 0; token < blockTokens(); token++) {
      for (int pair = 0; pair < half; pair++) {
        putCosSin(
            to,
            token * half + pair,
            table.cosines()[token * table.pairs() + pair],
            table.sines()[token * table.pairs() + pair]);
      }
    }
  }

  /** Rotates unit vectors to the first position of each page to get cosines and sines. */
  private void putPageRope(Rotation rotation, MemorySegment to) {
    int half = headDim / 2;
    int[] channels = rotation.pairOrder(headDim);
    float[] one = new float[headDim];
    for (int page = 0; page < ropePages; page++) {
      for (int pair = 0; pair < half; pair++) {
        one[channels[pair]] = 1;
        one[channels[half + pair]] = 0;
      }
      rotation.rotate(one, 0, headDim, 1, firstPosition + page * Fp16Page.TOKENS);
      for (int pair = 0; pair < half; pair++) {
        putCosSin(to, page * half + pair, one[channels[pair]], one[channels[half + pair]]);
      }
    }
  }

  private static void putCosSin(MemorySegment to, int index, float cosine, float sine) {
    to.setAtIndex(JAVA_FLOAT_UNALIGNED, 2L * index, cosine);
    to.setAtIndex(JAVA_FLOAT_UNALIGNED, 2L * index + 1, sine);
  }

  private static void putPairOrder(int[] channels, MemorySegment to) {
    for (int i = 0; i < channels.length; i++) {
      to.setAtIndex(JAVA_SHORT_UNALIGNED, i, (short) channels[i]);
    }
  }

  /** Returns the address for a layer's first KV head. */
  long keysAddress(int layer) {
    return keys.address() + (long) layer * kvHeads() * layout.keyBytes();
  }

  /** Returns the address for a layer's first KV head. */
  long valuesAddress(int layer) {
    return values.address() + (long) layer * kvHeads() * layout.valueBytes();
  }

  long searchTablesAddress() {
    return searchTables.address();
  }

  long tokenRopeAddress() {
    return tokenRope.address();
  }

  long blockRopeAddress() {
    return blockRope.address();
  }

  long pageRopeAddress() {
    return pageRope.address();
  }

  long pairOrderAddress() {
    return pairOrder.address();
  }

  int firstPosition() {
    return firstPosition;
  }

  /** Returns the number of pages that the page RoPE table covers. */
  int ropePages() {
    return ropePages;
  }

  CodebookTableLayout layout() {
    return layout;
  }

  @Override
  public void close() {
    Resources.closeAll(owned);
  }
}
