package dev.kvasir.codec.commvq;

import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.ExpandedReader;
import dev.kvasir.codec.Form;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.kernel.FixedRows;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.kernel.TurnTable;
import dev.kvasir.memory.SharedArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A layer's keys and values as codes of its codebooks, laid out as {@link CommvqShape} says. What
 * the codes stand for is defined by the forms of the codebooks that attention reads, {@link
 * LayerRows}. Stored:
 *
 * <pre>
 * u16  KV heads
 * u16  channels of a key
 * u16  stages of keys
 * u16  channels of a value, and u16 stages of values, in pages of kind 5 alone
 * u32  position of the first token
 *      scales and codes
 * </pre>
 */
public final class CommvqPage implements Page {
  /** Its number among stored pages. */
  private static final int KIND = 4;

  /** Its number where values have another width than keys. */
  private static final int TWO_WIDTHS_KIND = 5;

  private static final int HEADER_BYTES = 3 * Short.BYTES + Integer.BYTES;
  private static final int TWO_WIDTHS_HEADER_BYTES = HEADER_BYTES + 2 * Short.BYTES;
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final CommvqShape shape;
  private final LayerRows rows;
  private final KeyReading reading;
  private final Rotation rotation;
  private final int position;
  private final SharedArena memory;
  private final MemorySegment data;

  private CommvqPage(
      SharedArena memory,
      CommvqShape shape,
      LayerRows rows,
      KeyReading reading,
      Rotation rotation,
      int position,
      MemorySegment data) {
    this.shape = shape;
    this.rows = rows;
    this.reading = reading;
    this.rotation = rotation;
    this.position = position;
    this.data = data;
    this.memory = memory.retain();
  }

  CommvqPage(
      SharedArena memory,
      CommvqShape shape,
      LayerRows rows,
      KeyReading reading,
      Rotation rotation,
      int position,
      EncodedBlock keys,
      EncodedBlock values) {
    this(memory, shape, rows, reading, rotation, position, memory.allocate(shape.bytes()));
    pack(keys.scales(), shape.keyScalesAt());
    pack(values.scales(), shape.valueScalesAt());
    for (int head = 0; head < shape.kvHeads(); head++) {
      int first = head * TOKENS;
      shape.keyCodes().pack(keys.codes(), first * shape.keyStages(), data, shape.keyCodesAt(head));
      shape
          .valueCodes()
          .pack(values.codes(), first * shape.valueStages(), data, shape.valueCodesAt(head));
    }
  }

  private void pack(short[] scales, long offset) {
    for (int token = 0; token < TOKENS; token++) {
      data.set(SHORT, offset + (long) Short.BYTES * token, scales[token]);
    }
  }

  @Override
  public byte[] form() {
    int header = shape.hasOneWidth() ? HEADER_BYTES : TWO_WIDTHS_HEADER_BYTES;
    return Envelope.PAGE.seal(kind(shape), header + shape.bytes(), this::write);
  }

  private static int kind(CommvqShape shape) {
    return shape.hasOneWidth() ? KIND : TWO_WIDTHS_KIND;
  }

  private void write(ByteBuffer out) {
    out.putShort((short) shape.kvHeads());
    out.putShort((short) shape.keyDim()).putShort((short) shape.keyStages());
    if (!shape.hasOneWidth()) {
      out.putShort((short) shape.valueDim()).putShort((short) shape.valueStages());
    }
    out.putInt(position);
    out.put(data.asByteBuffer());
  }

  /** Reads what {@link #form} wrote, with what codes stand for in its layer. */
  static CommvqPage read(
      SharedArena memory,
      Form form,
      CommvqShape shape,
      LayerRows rows,
      KeyReading reading,
      Rotation rotation) {
    return Envelope.PAGE.open(
        form, kind(shape), in -> read(memory, in, shape, rows, reading, rotation));
  }

  private static CommvqPage read(
      SharedArena memory,
      ByteBuffer in,
      CommvqShape shape,
      LayerRows rows,
      KeyReading reading,
      Rotation rotation) {
    CommvqShape found = readShape(in, shape.hasOneWidth());
    if (!found.equals(shape)) {
      throw Envelope.PAGE.refused("has %s; this cache has %s".formatted(found, shape));
    }
    int position = Envelope.PAGE.position(in);
    Envelope.PAGE.requireRest(in, shape.bytes());
    MemorySegment data = memory.keep(MemorySegment.ofBuffer(in));
    return new CommvqPage(memory, shape, rows, reading, rotation, position, data);
  }

  private static CommvqShape readShape(ByteBuffer in, boolean oneWidth) {
    int kvHeads = Short.toUnsignedInt(in.getShort());
    int keyDim = Short.toUnsignedInt(in.getShort());
    int keyStages = Short.toUnsignedInt(in.getShort());
    return oneWidth
        ? new CommvqShape(kvHeads, keyDim, keyStages)
        : new CommvqShape(
            kvHeads,
            keyDim,
            keyStages,
            Short.toUnsignedInt(in.getShort()),
            Short.toUnsignedInt(in.getShort()));
  }

  public LayerRows rows() {
    return rows;
  }

  public KeyReading reading() {
    return reading;
  }

  public Rotation rotation() {
    return rotation;
  }

  /** Of the first token. */
  public int position() {
    return position;
  }

  /**
   * @param indices // (sets of keys, TOKENS), set
   */
  public void readKeys(Kernels kernels, int kvHead, byte[] indices) {
    kernels.codebooks().unpackStages(data, shape.keyCodesAt(kvHead), shape.keyStages(), indices);
  }

  /**
   * @param indices // (sets of values, TOKENS), set
   */
  public void readValues(Kernels kernels, int kvHead, byte[] indices) {
    kernels
        .codebooks()
        .unpackStages(data, shape.valueCodesAt(kvHead), shape.valueStages(), indices);
  }

  /**
   * @param scales // (TOKENS), set
   */
  public void readKeyScales(Kernels kernels, float[] scales) {
    kernels.halves().expand(data, shape.keyScalesAt(), scales, 0, TOKENS);
  }

  /**
   * @param scales // (TOKENS), set
   */
  public void readValueScales(Kernels kernels, float[] scales) {
    kernels.halves().expand(data, shape.valueScalesAt(), scales, 0, TOKENS);
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return reading == KeyReading.DECODED
        ? readers.of(ExpandedReader.KIND)
        : readers.of(CommvqReader.KIND);
  }

  @Override
  public void expandKeys(PageRoom worker, int kvHead, int tokens, float[] out) {
    DecodingRoom room = DecodingRoom.of(worker, rows.keySets(), rows.table().width());
    Kernels kernels = worker.kernels();
    FixedRows fixed = rows.keys().get(kvHead);
    TurnTable table = rows.table();
    readKeys(kernels, kvHead, room.indices);
    readKeyScales(kernels, room.scales);
    room.codes.set(fixed, room.indices, room.scales, table.cosines(), table.sines());
    kernels.codebooks().turnedSums(room.codes, 0, tokens, room.sums, room.vectors);
    room.turn(table).turn(kernels, room.vectors, tokens, rotation, position);
    table.restore(room.vectors, tokens, out);
  }

  @Override
  public void expandValues(PageRoom worker, int kvHead, int tokens, float[] out) {
    int valueDim = shape.valueDim();
    DecodingRoom room = DecodingRoom.of(worker, rows.valueSets(), valueDim);
    Kernels kernels = worker.kernels();
    float[] numbers = room.floats(kernels, rows.values().get(kvHead));
    readValues(kernels, kvHead, room.indices);
    readValueScales(kernels, room.scales);
    kernels
        .codebooks()
        .pickedSums(numbers, 0, room.indices, rows.valueSets(), tokens, valueDim, out);
    float[] mean = rows.valueMeans().get(kvHead);
    for (int token = 0; token < tokens; token++) {
      kernels.rows().scale(out, token * valueDim, valueDim, room.scales[token]);
      kernels.rows().add(out, token * valueDim, mean, 0, valueDim);
    }
  }

  @Override
  public long codeBytes() {
    return shape.codeBytes();
  }

  @Override
  public long scaleBytes() {
    return shape.scaleBytes();
  }

  @Override
  public void close() {
    memory.release();
  }
}
