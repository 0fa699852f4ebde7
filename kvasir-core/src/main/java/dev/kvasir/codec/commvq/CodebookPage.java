package dev.kvasir.codec.commvq;

import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.page.Page;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A layer's keys and values as codes of its codebooks, laid out as {@link CodebookShape} says. What
 * the codes stand for is defined by the forms of the codebooks that attention reads, {@link
 * LayerRows}.
 */
public final class CodebookPage implements Page {
  private static final Kernels KERNELS = KernelChoice.ofThisProcess().kernels();
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final CodebookShape shape;
  private final LayerRows rows;
  private final KeyReading reading;
  private final Rotation rotation;
  private final int position;
  private final CountedArena arena = new CountedArena();
  private final MemorySegment data;

  CodebookPage(
      CodebookShape shape,
      LayerRows rows,
      KeyReading reading,
      Rotation rotation,
      int position,
      EncodedBlock keys,
      EncodedBlock values) {
    this.shape = shape;
    this.rows = rows;
    this.reading = reading;
    this.rotation = rotation;
    this.position = position;
    this.data = arena.allocate(shape.scaleBytes() + shape.codeBytes());
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
    kernels.unpackStages(data, shape.keyCodesAt(kvHead), shape.stages(), indices);
  }

  /**
   * @param indices // (sets, TOKENS), set
   */
  public void readValues(Kernels kernels, int kvHead, byte[] indices) {
    kernels.unpackStages(data, shape.valueCodesAt(kvHead), shape.stages(), indices);
  }

  /**
   * @param scales // (TOKENS), set
   */
  public void readKeyScales(Kernels kernels, float[] scales) {
    kernels.expandHalf(data, shape.keyScalesAt(), scales, 0, TOKENS);
  }

  /**
   * @param scales // (TOKENS), set
   */
  public void readValueScales(Kernels kernels, float[] scales) {
    kernels.expandHalf(data, shape.valueScalesAt(), scales, 0, TOKENS);
  }

  @Override
  public void expandKeys(int kvHead, int tokens, float[] out) {
    byte[] indices = new byte[rows.sets() * TOKENS];
    float[] scales = new float[TOKENS];
    int width = rows.table().width();
    short[] sums = new short[tokens * width];
    float[] turned = new float[tokens * width];
    readKeys(KERNELS, kvHead, indices);
    readKeyScales(KERNELS, scales);
    KERNELS.rowSums(rows.keys().get(kvHead), indices, tokens, sums);
    rows.table().turnAlong(KERNELS, sums, tokens, rows.keys().get(kvHead), scales, turned);
    rows.table().restore(turned, tokens, out);
    rotation.turn(out, 0, shape.headDim(), tokens, position);
  }

  @Override
  public void expandValues(int kvHead, int tokens, float[] out) {
    byte[] indices = new byte[rows.sets() * TOKENS];
    float[] scales = new float[TOKENS];
    readValues(KERNELS, kvHead, indices);
    readValueScales(KERNELS, scales);
    DenseMatrix halves = rows.values().get(kvHead);
    float[] all = new float[halves.rows() * halves.columns()];
    KERNELS.expandHalf(halves.data(), 0, all, 0, all.length);
    int headDim = shape.headDim();
    for (int token = 0; token < tokens; token++) {
      System.arraycopy(rows.valueMeans().get(kvHead), 0, out, token * headDim, headDim);
      for (int set = 0; set < rows.sets(); set++) {
        int row = set * AdditiveStages.ROWS + indices[set * TOKENS + token];
        addScaled(all, row * headDim, scales[token], out, token * headDim);
      }
    }
  }

  private void addScaled(float[] x, int at, float scale, float[] out, int to) {
    for (int i = 0; i < shape.headDim(); i++) {
      out[to + i] += scale * x[at + i];
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
    arena.close();
  }
}
