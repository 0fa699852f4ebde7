package dev.kvasir.methods.ranked;

import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.CodeMatrix;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A layer's keys and values with two bit widths, head after head in a {@link RankedHeadLayout}.
 * Serialized:
 *
 * <pre>
 * u16  KV heads
 *      a RankedHeadLayout
 *      the page's bytes
 * </pre>
 */
final class RankedPage implements Page {
  /** Kind of the serialized page. */
  private static final int KIND = 41;

  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int INFINITE = 0x7C00;

  private final SharedArena memory;
  private final int kvHeads;
  private final RankedHeadLayout layout;
  private final OperandPrecision operandPrecision;
  private final MemorySegment bytes;

  /** Creates a page of zeros, which a {@link RankedPageQuantizer} fills. */
  RankedPage(
      SharedArena memory, int kvHeads, RankedHeadLayout layout, OperandPrecision operandPrecision) {
    this(memory, kvHeads, layout, operandPrecision, memory.allocate(kvHeads * layout.bytes()));
  }

  private RankedPage(
      SharedArena memory,
      int kvHeads,
      RankedHeadLayout layout,
      OperandPrecision operandPrecision,
      MemorySegment bytes) {
    this.kvHeads = kvHeads;
    this.layout = layout;
    this.operandPrecision = operandPrecision;
    this.bytes = bytes;
    this.memory = memory.retain();
  }

  @Override
  public byte[] serialize() {
    return SnapshotHeader.PAGE.wrap(
        KIND,
        Short.BYTES + layout.headerBytes() + bytes.byteSize(),
        out -> {
          out.putShort((short) kvHeads);
          layout.write(out);
          out.put(bytes.asByteBuffer());
        });
  }

  /** Reads what {@link #serialize} wrote; fails for another layout. */
  static RankedPage read(
      SharedArena memory,
      Snapshot snapshot,
      int kvHeads,
      RankedHeadLayout layout,
      OperandPrecision operandPrecision) {
    return SnapshotHeader.PAGE.unwrap(
        snapshot, KIND, in -> read(memory, in, kvHeads, layout, operandPrecision));
  }

  private static RankedPage read(
      SharedArena memory,
      ByteBuffer in,
      int kvHeads,
      RankedHeadLayout layout,
      OperandPrecision operandPrecision) {
    int heads = Short.toUnsignedInt(in.getShort());
    RankedHeadLayout found = RankedHeadLayout.read(in);
    if (heads != kvHeads || !found.hasSameLayout(layout)) {
      throw SnapshotHeader.PAGE.invalid(
          "has in %d KV heads %s; this cache has in %d %s"
              .formatted(heads, found, kvHeads, layout));
    }
    SnapshotHeader.PAGE.requireRemaining(in, kvHeads * layout.bytes());
    MemorySegment bytes = memory.adopt(MemorySegment.ofBuffer(in));
    return new RankedPage(memory, kvHeads, layout, operandPrecision, bytes).requireValid();
  }

  private RankedPage requireValid() {
    for (int head = 0; head < kvHeads; head++) {
      int marked = 0;
      for (int token = 0; token < TOKENS; token++) {
        marked += isSalient(head, token) ? 1 : 0;
      }
      if (marked != layout.salient() || !hasValidFactors(head)) {
        close();
        throw SnapshotHeader.PAGE.invalid(
            marked == layout.salient()
                ? "has in head %d a factor that is not above zero and finite".formatted(head)
                : "marks %d tokens of head %d; expected %d"
                    .formatted(marked, head, layout.salient()));
      }
    }
    return this;
  }

  private boolean hasValidFactors(int head) {
    long end = head * layout.bytes() + layout.keysOffset(0);
    for (long at = head * layout.bytes() + layout.keyFactorsOffset(); at < end; at += Short.BYTES) {
      short half = bytes.get(HALF, at);
      if (half <= 0 || half >= INFINITE) {
        return false;
      }
    }
    return true;
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return readers.of(RankedReader.KIND);
  }

  RankedHeadLayout layout() {
    return layout;
  }

  boolean isExact() {
    return operandPrecision == OperandPrecision.EXACT;
  }

  MemorySegment bytes() {
    return bytes;
  }

  long offset(int kvHead) {
    return kvHead * layout.bytes();
  }

  void markSalient(int kvHead, int token) {
    long at = offset(kvHead) + token / Byte.SIZE;
    int marks = bytes.get(ValueLayout.JAVA_BYTE, at);
    bytes.set(ValueLayout.JAVA_BYTE, at, (byte) (marks | 1 << token % Byte.SIZE));
  }

  private boolean isSalient(int kvHead, int token) {
    int marks = bytes.get(ValueLayout.JAVA_BYTE, offset(kvHead) + token / Byte.SIZE);
    return (marks >> token % Byte.SIZE & 1) == 1;
  }

  /** Reads a head's tokens tier after tier, each in token order. // (TOKENS), set */
  void readTierOrder(int kvHead, int[] tierOrder) {
    int high = 0;
    int low = layout.salient();
    for (int token = 0; token < TOKENS; token++) {
      tierOrder[isSalient(kvHead, token) ? high++ : low++] = token;
    }
  }

  void putFactors(long at, float[] factors) {
    for (int i = 0; i < factors.length; i++) {
      bytes.set(HALF, at + 2L * i, Float.floatToFloat16(factors[i]));
    }
  }

  @Override
  public void dequantizeKeys(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    RankedScratch scratch = RankedScratch.of(workspace);
    int width = layout.keyDim();
    readTierOrder(kvHead, scratch.tierOrder);
    for (int tier = 0; tier < layout.tiers(); tier++) {
      CodeMatrix matrix = layout.keys().get(tier);
      float[] x = workspace.codes().values(matrix.rows() * matrix.columns());
      matrix.dequantize(workspace.codes(), bytes, offset(kvHead) + layout.keysOffset(tier), x);
      int first = tier == 0 ? 0 : layout.tokens(0);
      for (int lane = 0; lane < matrix.columns(); lane++) {
        int token = scratch.tierOrder[first + lane];
        for (int channel = 0; token < tokens && channel < width; channel++) {
          out[token * width + channel] = x[channel * matrix.columns() + lane];
        }
      }
    }
    if (layout.dividesKeys()) {
      multiply(workspace, scratch, offset(kvHead) + layout.keyFactorsOffset(), width, tokens, out);
    }
  }

  @Override
  public void dequantizeValues(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    RankedScratch scratch = RankedScratch.of(workspace);
    int width = layout.valueDim();
    readTierOrder(kvHead, scratch.tierOrder);
    for (int tier = 0; tier < layout.tiers(); tier++) {
      CodeMatrix matrix = layout.values().get(tier);
      float[] x = workspace.codes().values(matrix.rows() * matrix.columns());
      matrix.dequantize(workspace.codes(), bytes, offset(kvHead) + layout.valuesOffset(tier), x);
      int first = tier == 0 ? 0 : layout.tokens(0);
      for (int entry = 0; entry < matrix.rows(); entry++) {
        int token = scratch.tierOrder[first + entry];
        if (token < tokens) {
          System.arraycopy(x, entry * width, out, token * width, width);
        }
      }
    }
    if (layout.dividesValues()) {
      multiply(
          workspace, scratch, offset(kvHead) + layout.valueFactorsOffset(), width, tokens, out);
    }
  }

  private void multiply(
      PageWorkspace workspace,
      RankedScratch scratch,
      long factorsAt,
      int width,
      int rows,
      float[] x) {
    float[] factors = scratch.factors(width);
    workspace.kernels().halves().expand(bytes, factorsAt, factors, 0, width);
    for (int row = 0; row < rows; row++) {
      workspace.kernels().rows().multiply(x, row * width, factors, 0, x, row * width, width);
    }
  }

  @Override
  public long codeBytes() {
    return kvHeads * layout.codeBytes();
  }

  /** Counts marks and factors as scale bytes. */
  @Override
  public long scaleBytes() {
    return bytes.byteSize() - codeBytes();
  }

  @Override
  public void close() {
    memory.release();
  }

  /** Scratch arrays of one worker for dequantizing a page with two bit widths. */
  private static final class RankedScratch {
    final int[] tierOrder = new int[Page.TOKENS];
    private float[] factors = {};

    static RankedScratch of(PageWorkspace workspace) {
      return workspace.scratch(RankedScratch.class, RankedScratch::new);
    }

    /** Returns an array for the factors of that many channels. */
    float[] factors(int channels) {
      if (factors.length < channels) {
        factors = new float[channels];
      }
      return factors;
    }
  }
}
