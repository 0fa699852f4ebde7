package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.codec.commvq.Codebook;
import dev.kvasir.codec.commvq.LayerCodebooks;
import dev.kvasir.codec.commvq.LayerRows;
import dev.kvasir.codec.commvq.ModelCodebooks;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.kernel.TurnTable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The codebooks of a model on a device, as attention reads them and as codes are searched for, with
 * the turns of positions.
 *
 * <pre>
 * keys         (layers, kvHeads) of {@link CodebookTables}
 * values       (layers, kvHeads) of {@link CodebookTables}
 * searched     (layers, keys and values, kvHeads) times f32
 *                (stages, 2, 64, headDim) rows; (stages, second 64, first 64) squares; (headDim) mean
 * place turns  {@link CodebookTables#putTurns}
 * places       (128, headDim / 2) f32 cosine and sine of a place in a block
 * page turns   (pages, headDim / 2) f32 cosine and sine of a page's first position
 * order        (2, headDim / 2) u16 channels of pairs
 * </pre>
 */
final class DeviceCodebooks implements AutoCloseable {
  private static final int ROWS = AdditiveStages.ROWS;
  private static final int TURN_BYTES = 2 * Float.BYTES;

  private final Context context;
  private final Stream stream;
  private final ModelCodebooks source;
  private final CodebookTables layout;
  private final int headDim;
  private final int firstPosition;
  private final int turnPages;
  private final List<AutoCloseable> taken = new ArrayList<>();
  private final DeviceMemory keys;
  private final DeviceMemory values;
  private final DeviceMemory searched;
  private final DeviceMemory placeTurns;
  private final DeviceMemory places;
  private final DeviceMemory pageTurns;
  private final DeviceMemory order;

  /**
   * @param firstPosition of a sequence's first packed page
   * @param positions that pages may begin at, all of them together
   */
  DeviceCodebooks(
      Context context, Stream stream, ModelCodebooks source, int firstPosition, int positions) {
    this.context = context;
    this.stream = stream;
    this.source = source;
    LayerCodebooks any = source.layers().getFirst();
    this.headDim = any.keyDim();
    this.layout = new CodebookTables(headDim, any.stages());
    this.firstPosition = firstPosition;
    this.turnPages = Math.max(1, Math.ceilDiv(positions, HalfPage.TOKENS));
    try {
      this.keys = room((long) heads() * layout.keyBytes());
      this.values = room((long) heads() * layout.valueBytes());
      this.searched = room(2L * heads() * searchedFloats() * Float.BYTES);
      Rotation rotation = source.rotation();
      TurnTable table = rotation.table(headDim);
      this.placeTurns = filled(layout.turnBytes(), to -> layout.putTurns(table, to));
      this.places =
          filled((long) blockTokens() * headDim / 2 * TURN_BYTES, to -> putPlaces(table, to));
      this.pageTurns =
          filled((long) turnPages * headDim / 2 * TURN_BYTES, to -> putPageTurns(rotation, to));
      this.order =
          filled((long) headDim * Short.BYTES, to -> putOrder(rotation.pairOrder(headDim), to));
      bringTables();
    } catch (RuntimeException | Error e) {
      Closing.after(e, this);
      throw e;
    }
  }

  /** Bytes that the codebooks of a model take on a device, without the turns of positions. */
  static long bytes(int layers, int kvHeads, int headDim, int stages) {
    CodebookTables layout = new CodebookTables(headDim, stages);
    long searched = 2L * searchedFloats(headDim, stages) * Float.BYTES;
    return (long) layers * kvHeads * (layout.keyBytes() + layout.valueBytes() + searched);
  }

  private static int blockTokens() {
    return SequencePages.BLOCK_PAGES * HalfPage.TOKENS;
  }

  private static int searchedFloats(int headDim, int stages) {
    return stages * (2 * ROWS * headDim + ROWS * ROWS) + headDim;
  }

  private int searchedFloats() {
    return searchedFloats(headDim, layout.stages());
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

  private DeviceMemory room(long bytes) {
    DeviceMemory memory = context.allocate(bytes);
    taken.add(memory);
    return memory;
  }

  private DeviceMemory filled(long bytes, Consumer<MemorySegment> fill) {
    DeviceMemory memory = room(bytes);
    bring(memory, 0, bytes, fill);
    return memory;
  }

  private void bring(DeviceMemory memory, long at, long bytes, Consumer<MemorySegment> fill) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment all = arena.allocate(bytes, 64);
      fill.accept(all);
      memory.upload(stream, at, all, bytes);
      stream.synchronize();
    }
  }

  /** A layer that is the one before it again is copied. */
  private void bringTables() {
    for (int layer = 0; layer < layers(); layer++) {
      if (layer > 0 && source.layers().get(layer) == source.layers().get(layer - 1)) {
        repeat(keys, layer);
        repeat(values, layer);
        repeat(searched, layer);
      } else {
        bringLayer(layer);
      }
    }
    stream.synchronize();
  }

  private void repeat(DeviceMemory memory, int layer) {
    long bytes = memory.bytes() / layers();
    long to = memory.address() + layer * bytes;
    DeviceMemory.copy(stream, to, to - bytes, bytes);
  }

  private void bringLayer(int layer) {
    LayerRows rows = source.rows().get(layer);
    LayerCodebooks books = source.layers().get(layer);
    for (int head = 0; head < kvHeads(); head++) {
      int own = head;
      long place = (long) layer * kvHeads() + head;
      bring(
          keys,
          place * layout.keyBytes(),
          layout.keyBytes(),
          to -> layout.putKeys(rows.keys().get(own), to));
      bring(
          values,
          place * layout.valueBytes(),
          layout.valueBytes(),
          to -> layout.putValues(rows.values().get(own), rows.valueMeans().get(own), to));
      bringSearched(books.keys().get(head), 2L * layer * kvHeads() + head);
      bringSearched(books.values().get(head), (2L * layer + 1) * kvHeads() + head);
    }
  }

  private void bringSearched(Codebook book, long place) {
    long bytes = (long) searchedFloats() * Float.BYTES;
    bring(searched, place * bytes, bytes, to -> putSearched(book, to));
  }

  private void putSearched(Codebook book, MemorySegment to) {
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

  private void putPlaces(TurnTable table, MemorySegment to) {
    int half = headDim / 2;
    for (int token = 0; token < blockTokens(); token++) {
      for (int pair = 0; pair < half; pair++) {
        putTurn(
            to,
            token * half + pair,
            table.cosines()[token * table.pairs() + pair],
            table.sines()[token * table.pairs() + pair]);
      }
    }
  }

  /** What becomes of a one when it is turned to a position. */
  private void putPageTurns(Rotation rotation, MemorySegment to) {
    int half = headDim / 2;
    int[] channels = rotation.pairOrder(headDim);
    float[] one = new float[headDim];
    for (int page = 0; page < turnPages; page++) {
      for (int pair = 0; pair < half; pair++) {
        one[channels[pair]] = 1;
        one[channels[half + pair]] = 0;
      }
      rotation.turn(one, 0, headDim, 1, firstPosition + page * HalfPage.TOKENS);
      for (int pair = 0; pair < half; pair++) {
        putTurn(to, page * half + pair, one[channels[pair]], one[channels[half + pair]]);
      }
    }
  }

  private static void putTurn(MemorySegment to, int index, float cosine, float sine) {
    to.setAtIndex(JAVA_FLOAT_UNALIGNED, 2L * index, cosine);
    to.setAtIndex(JAVA_FLOAT_UNALIGNED, 2L * index + 1, sine);
  }

  private static void putOrder(int[] channels, MemorySegment to) {
    for (int i = 0; i < channels.length; i++) {
      to.setAtIndex(JAVA_SHORT_UNALIGNED, i, (short) channels[i]);
    }
  }

  /** Of a layer's first KV head. */
  long keysAt(int layer) {
    return keys.address() + (long) layer * kvHeads() * layout.keyBytes();
  }

  /** Of a layer's first KV head. */
  long valuesAt(int layer) {
    return values.address() + (long) layer * kvHeads() * layout.valueBytes();
  }

  long searchedAt() {
    return searched.address();
  }

  long placeTurnsAt() {
    return placeTurns.address();
  }

  long placesAt() {
    return places.address();
  }

  long pageTurnsAt() {
    return pageTurns.address();
  }

  long orderAt() {
    return order.address();
  }

  int firstPosition() {
    return firstPosition;
  }

  /** Pages whose first positions there are turns of. */
  int turnPages() {
    return turnPages;
  }

  CodebookTables layout() {
    return layout;
  }

  @Override
  public void close() {
    Closing.all(taken);
  }
}
