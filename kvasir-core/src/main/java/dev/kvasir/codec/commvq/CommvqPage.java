package dev.kvasir.codec.commvq;

import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.ExpandedReader;
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
 * u16  channels of a head
 * u16  stages
 * u32  position of the first token
 *      scales and codes
 * </pre>
 */
public final class CommvqPage implements Page {
  /** Its number among stored pages. */
  private static final int KIND = 4;

  private static final int HEADER_BYTES = 3 * Short.BYTES + Integer.BYTES;
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
      int position) {
    this.shape = shape;
    this.rows = rows;
    this.reading = reading;
    this.rotation = rotation;
    this.position = position;
    this.data = memory.allocate(shape.bytes());
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
    this(memory, shape, rows, reading, rotation, position);
    pack(keys.scales(), shape.keyScalesAt());
    pack(values.scales(), shape.valueScalesAt());
    int headCodes = TOKENS * shape.stages();
    for (int head = 0; head < shape.kvHeads(); head++) {
      shape.codes().pack(keys.codes(), head * headCodes, data, shape.keyCodesAt(head));
      shape.codes().pack(values.codes(), head * headCodes, data, shape.valueCodesAt(head));
    }
  }

  private void pack(short[] scales, long offset) {
    for (int token = 0; token < TOKENS; token++) {
      data.set(SHORT, offset + (long) Short.BYTES * token, scales[token]);
    }
  }

  @Override
  public byte[] form() {
    return Envelope.PAGE.seal(KIND, HEADER_BYTES + shape.bytes(), this::write);
  }

  private void write(ByteBuffer out) {
    out.putShort((short) shape.kvHeads()).putShort((short) shape.headDim());
    out.putShort((short) shape.stages()).putInt(position);
    out.put(data.asByteBuffer());
  }

  /** Reads what {@link #form} wrote, with what codes stand for in its layer. */
  static CommvqPage read(
      byte[] form, CommvqShape shape, LayerRows rows, KeyReading reading, Rotation rotation) {
    return Envelope.PAGE.open(form, KIND, in -> read(in, shape, rows, reading, rotation));
  }

  private static CommvqPage read(
      ByteBuffer in, CommvqShape shape, LayerRows rows, KeyReading reading, Rotation rotation) {
    CommvqShape found =
        new CommvqShape(
            Short.toUnsignedInt(in.getShort()),
            Short.toUnsignedInt(in.getShort()),
            Short.toUnsignedInt(in.getShort()));
    if (!found.equals(shape)) {
      throw Envelope.PAGE.refused("has %s; this cache has %s".formatted(found, shape));
    }
    int position = Envelope.PAGE.position(in);
    Envelope.PAGE.requireRest(in, shape.bytes());
    SharedArena own = new SharedArena();
    try {
      CommvqPage page = new CommvqPage(own, shape, rows, reading, rotation, position);
      page.data.copyFrom(MemorySegment.ofBuffer(in));
      return page;
    } finally {
      own.release();
    }
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
   * @param indices // (sets, TOKENS), set
   */
  public void readKeys(Kernels kernels, int kvHead, byte[] indices) {
    kernels.codebooks().unpackStages(data, shape.keyCodesAt(kvHead), shape.stages(), indices);
  }

  /**
   * @param indices // (sets, TOKENS), set
   */
  public void readValues(Kernels kernels, int kvHead, byte[] indices) {
    kernels.codebooks().unpackStages(data, shape.valueCodesAt(kvHead), shape.stages(), indices);
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
    DecodingRoom room = DecodingRoom.of(worker, rows.sets(), rows.table().width());
    Kernels kernels = worker.kernels();
    FixedRows fixed = rows.keys().get(kvHead);
    TurnTable table = rows.table();
    readKeys(kernels, kvHead, room.indices);
    readKeyScales(kernels, room.scales);
    kernels.codebooks().rowSums(fixed, room.indices, tokens, room.sums);
    table.turnAlong(kernels, room.sums, tokens, fixed, room.scales, room.vectors);
    room.turn(table).turn(kernels, room.vectors, tokens, rotation, position);
    table.restore(room.vectors, tokens, out);
  }

  @Override
  public void expandValues(PageRoom worker, int kvHead, int tokens, float[] out) {
    int headDim = shape.headDim();
    DecodingRoom room = DecodingRoom.of(worker, rows.sets(), headDim);
    Kernels kernels = worker.kernels();
    float[] numbers = room.floats(kernels, rows.values().get(kvHead));
    readValues(kernels, kvHead, room.indices);
    readValueScales(kernels, room.scales);
    kernels.codebooks().pickedSums(numbers, 0, room.indices, rows.sets(), tokens, headDim, out);
    float[] mean = rows.valueMeans().get(kvHead);
    for (int token = 0; token < tokens; token++) {
      kernels.rows().scale(out, token * headDim, headDim, room.scales[token]);
      kernels.rows().add(out, token * headDim, mean, 0, headDim);
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
