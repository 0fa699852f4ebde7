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
import dev.kvasir.kernel.Int8Codebooks;
import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.Rotation;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The codebooks of a model on a device, in the forms that attention and the code search read, with
 * RoPE tables.
 *
 * <pre>
 * keys           (layers, kvHeads) of {@link CodebookTableLayout}
 * values         (layers) of {@link ValueTableLayout}
 * dense keys     (layers, kvHeads) of {@link CodebookTableLayout#putDenseKeys}, if pages are decoded
 * search tables  of keys (layers, kvHeads) and of values (layers, groups of heads) times f32; values
 *                  that a network encodes have none
 *                  (stages, 2, 64, length) rows; (stages, second 64, first 64) squares; (length) mean
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
  private final ValueTableLayout valueLayout;
  private final int headDim;
  private final int kvHeads;
  private final int firstPosition;
  private final int ropePages;
  private final List<AutoCloseable> owned = new ArrayList<>();
  private final DeviceMemory keys;
  private final DeviceMemory values;
  private final DeviceMemory keySearch;
  private final DeviceMemory valueSearch; // null if a network encodes values
  private final DeviceNetwork network; // null if codes are searched for
  private final DeviceMemory tokenRope;
  private final DeviceMemory blockRope;
  private final DeviceMemory pageRope;
  private final DeviceMemory pairOrder;
  private DeviceMemory denseKeys; // null until first needed

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
    this.kvHeads = any.kvHeads();
    this.layout =
        new CodebookTableLayout(headDim, any.keyStages(), hasNetwork() ? 1 : any.valueHeads());
    this.valueLayout =
        hasNetwork()
            ? NetworkLayout.values(headDim, source.encoders().getFirst().bits())
            : layout.values();
    this.firstPosition = firstPosition;
    this.ropePages = Math.max(1, Math.ceilDiv(positions, Fp16Page.TOKENS));
    try {
      this.keys = allocate((long) heads() * layout.keyBytes());
      this.values = allocate(layers() * valueLayout.layerBytes(kvHeads));
      this.keySearch = allocate(heads() * searchBytes(headDim, keyStages()));
      this.valueSearch =
          hasNetwork() ? null : allocate((long) layers() * groups() * valueSearchBytes());
      this.network =
          hasNetwork() ? own(new DeviceNetwork(context, stream, source.encoders())) : null;
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

  /**
   * Returns the bytes that the codebooks of a model take on a device, without RoPE tables.
   *
   * @param stages stages of keys
   * @param valueHeads KV heads whose values share codes
   */
  static long bytes(int layers, int kvHeads, int headDim, int stages, int valueHeads) {
    CodebookTableLayout layout = new CodebookTableLayout(headDim, stages, valueHeads);
    long groups = kvHeads / valueHeads;
    long searched = groups * searchBytes(valueHeads * headDim, valueHeads * stages);
    return keyBytes(layers, kvHeads, headDim, stages)
        + layers * (layout.values().layerBytes(kvHeads) + searched);
  }

  /** Returns the bytes of the keys' part. */
  static long keyBytes(int layers, int kvHeads, int headDim, int stages) {
    CodebookTableLayout layout = new CodebookTableLayout(headDim, stages, 1);
    return (long) layers * kvHeads * (layout.keyBytes() + searchBytes(headDim, stages));
  }

  private static int blockTokens() {
    return Fp16Page.BLOCK_PAGES * Fp16Page.TOKENS;
  }

  private static long searchBytes(int length, int stages) {
    return Float.BYTES * (stages * (2L * ROWS * length + ROWS * ROWS) + length);
  }

  private long valueSearchBytes() {
    return searchBytes(layout.valueHeads() * headDim, layout.valueHeads() * keyStages());
  }

  private int keyStages() {
    return layout.stages();
  }

  int kvHeads() {
    return kvHeads;
  }

  private boolean hasNetwork() {
    return !source.encoders().isEmpty();
  }

  /** Returns the number of groups of KV heads whose values share codes. */
  int groups() {
    return kvHeads / layout.valueHeads();
  }

  int layers() {
    return source.layers().size();
  }

  private int heads() {
    return layers() * kvHeads;
  }

  private DeviceMemory allocate(long bytes) {
    return own(context.allocate(bytes));
  }

  private <T extends AutoCloseable> T own(T resource) {
    owned.add(resource);
    return resource;
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
      if (isRepeated(layer)) {
        repeat(keys, layer);
        repeat(values, layer);
        repeat(keySearch, layer);
        if (!hasNetwork()) {
          repeat(valueSearch, layer);
        }
      } else {
        uploadLayer(layer);
      }
    }
    stream.synchronize();
  }

  private boolean isRepeated(int layer) {
    return layer > 0 && source.layers().get(layer) == source.layers().get(layer - 1);
  }

  private void repeat(DeviceMemory memory, int layer) {
    long bytes = memory.bytes() / layers();
    long to = memory.address() + layer * bytes;
    DeviceMemory.copy(stream, to, to - bytes, bytes);
  }

  private void uploadLayer(int layer) {
    CompactLayerCodebooks compact = source.rows().get(layer);
    LayerCodebooks books = source.layers().get(layer);
    for (int head = 0; head < kvHeads; head++) {
      int own = head;
      long place = (long) layer * kvHeads + head;
      upload(
          keys,
          place * layout.keyBytes(),
          layout.keyBytes(),
          to -> layout.putKeys(compact.keys().get(own), to));
      upload(
          values,
          layer * valueLayout.layerBytes(kvHeads) + valueLayout.headAt(head),
          valueLayout.headBytes(),
          to -> putValues(compact, own, to));
      uploadSearchTable(keySearch, books.keys().get(head), place);
    }
    upload(
        values,
        layer * valueLayout.layerBytes(kvHeads),
        valueLayout.headAt(0),
        to -> valueLayout.putHeader(to));
    for (int group = 0; group < books.values().size(); group++) {
      uploadSearchTable(valueSearch, books.values().get(group), (long) layer * groups() + group);
    }
  }

  private void putValues(CompactLayerCodebooks compact, int head, MemorySegment to) {
    if (hasNetwork()) {
      valueLayout.putRows(compact.values().get(head), bit -> bit, to);
    } else {
      valueLayout.putRows(
          compact.values().get(head), row -> CodebookTableLayout.bin(row / ROWS, row % ROWS), to);
      valueLayout.putMean(compact.valueMeans().get(head), to);
    }
  }

  private void uploadSearchTable(DeviceMemory memory, Codebook book, long place) {
    long bytes = searchBytes(book.length(), book.stages().stages());
    upload(memory, place * bytes, bytes, to -> putSearchTable(book, to));
  }

  private static void putSearchTable(Codebook book, MemorySegment to) {
    AdditiveStages stages = book.stages();
    long at = putFloats(stages.rows(), to, 0);
    for (int stage = 0; stage < stages.stages(); stage++) {
      for (int b = 0; b < ROWS; b++) {
        for (int a = 0; a < ROWS; a++) {
          to.setAtIndex(JAVA_FLOAT_UNALIGNED, at++, stages.square(stage, a, b));
        }
      }
    }
    putFloats(book.mean(), to, at);
  }

  /** Returns the index after the last float. */
  private static long putFloats(float[] numbers, MemorySegment to, long at) {
    MemorySegment.copy(numbers, 0, to, JAVA_FLOAT_UNALIGNED, at * Float.BYTES, numbers.length);
    return at + numbers.length;
  }

  private DeviceMemory denseKeys() {
    if (denseKeys == null) {
      denseKeys = allocate((long) heads() * layout.denseKeyBytes());
      for (int layer = 0; layer < layers(); layer++) {
        if (isRepeated(layer)) {
          repeat(denseKeys, layer);
        } else {
          uploadDenseKeys(layer);
        }
      }
      stream.synchronize();
    }
    return denseKeys;
  }

  private void uploadDenseKeys(int layer) {
    for (int head = 0; head < kvHeads; head++) {
      Int8Codebooks own = source.rows().get(layer).keys().get(head);
      upload(
          denseKeys,
          ((long) layer * kvHeads + head) * layout.denseKeyBytes(),
          layout.denseKeyBytes(),
          to -> layout.putDenseKeys(own, to));
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
    return keys.address() + (long) layer * kvHeads * layout.keyBytes();
  }

  /** Returns the address of a layer's value tables. */
  long valuesAddress(int layer) {
    return values.address() + layer * valueLayout.layerBytes(kvHeads);
  }

  /** Returns the address for a layer's first KV head; uploads the rows on first use. */
  synchronized long denseKeysAddress(int layer) {
    return denseKeys().address() + (long) layer * kvHeads * layout.denseKeyBytes();
  }

  long keySearchAddress() {
    return keySearch.address();
  }

  long valueSearchAddress() {
    return valueSearch.address();
  }

  /** Returns the distance between the value tables of consecutive layers. */
  long valueStride() {
    return valueLayout.layerBytes(kvHeads);
  }

  /** Returns the networks that encode values; empty if codes are searched for. */
  Optional<DeviceNetwork> network() {
    return Optional.ofNullable(network);
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
