package dev.kvasir.methods.rotatekv;

import dev.kvasir.codec.DequantizingReader;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.codec.basis.AuxiliaryNumbers;
import dev.kvasir.codec.basis.OutputAccumulator;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.codec.uniform.UniformPageSerializer;
import dev.kvasir.codec.uniform.UniformReader;
import dev.kvasir.memory.SharedArena;
import java.nio.ByteBuffer;

/**
 * A page of rotated values, and of rotated and reordered keys of head groups. Serialized:
 *
 * <pre>
 * u32  position of the first token
 * u8   heads of a group
 * u8   1 if keys are before RoPE, else 0
 * u8   1 if channels are reordered, 2 if they have the order of the model, else 0
 * u16  (KV heads, keyDim) the page's channel order, if it has one: that of each group, group after
 *      group
 *      codes, a UniformPageSerializer
 * </pre>
 */
final class RotatekvPage implements Page {
  /** Kind of the serialized page. */
  private static final int KIND = 21;

  private final RotatekvCodec codec;
  private final int[] modelOrder; // null if there is none
  private final UniformPage codes;
  private final AuxiliaryNumbers order;
  private final int position;

  RotatekvPage(
      RotatekvCodec codec, int layer, UniformPage codes, AuxiliaryNumbers order, int position) {
    this.codec = codec;
    this.modelOrder = codec.modelOrder(layer);
    this.codes = codes;
    this.order = order;
    this.position = position;
  }

  @Override
  public byte[] serialize() {
    return SnapshotHeader.PAGE.wrap(
        KIND,
        Integer.BYTES + 3 + order.bytes() + UniformPageSerializer.bytes(codes),
        out -> {
          KeyGroups groups = codec.groups();
          out.putInt(position).put((byte) groups.headsPerGroup());
          out.put(flag(groups.rotation().isPresent())).put((byte) codec.orderKind());
          order.write(out);
          UniformPageSerializer.write(codes, out);
        });
  }

  private static byte flag(boolean set) {
    return (byte) (set ? 1 : 0);
  }

  /** Reads what {@link #serialize} wrote. */
  static RotatekvPage read(SharedArena memory, Snapshot snapshot, RotatekvCodec codec, int layer) {
    return SnapshotHeader.PAGE.unwrap(snapshot, KIND, in -> read(memory, in, codec, layer));
  }

  private static RotatekvPage read(
      SharedArena memory, ByteBuffer in, RotatekvCodec codec, int layer) {
    KeyGroups groups = codec.groups();
    int position = SnapshotHeader.PAGE.readPosition(in);
    require(in, "heads in a group", groups.headsPerGroup());
    require(in, "as its flag of keys before RoPE", flag(groups.rotation().isPresent()));
    require(in, "as its flag of a channel order", codec.orderKind());
    AuxiliaryNumbers order = AuxiliaryNumbers.read(memory, in, groups.orderLength());
    try {
      if (!groups.isPermutation(order)) {
        throw SnapshotHeader.PAGE.invalid("has an order of channels that is no permutation");
      }
      UniformPage codes =
          UniformPageSerializer.read(
              memory, in, groups.kvHeads(), found -> codec.head(), codec.operandPrecision());
      return new RotatekvPage(codec, layer, codes, order, position);
    } catch (RuntimeException | Error e) {
      order.close();
      throw e;
    }
  }

  private static void require(ByteBuffer in, String what, int expected) {
    int found = Byte.toUnsignedInt(in.get());
    if (found != expected) {
      throw SnapshotHeader.PAGE.invalid(
          "has %d %s; this cache has %d".formatted(found, what, expected));
    }
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return readers.of(RotatekvReader.KIND);
  }

  @Override
  public void dequantizeKeys(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    codec
        .groups()
        .expand(
            workspace, codes, order, modelOrder, codec.keyBasis(), position, kvHead, tokens, out);
  }

  @Override
  public void dequantizeValues(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    codes.dequantizeValues(workspace, kvHead, tokens, out);
    codec.valueBasis().invert(kvHead, out, 0, tokens);
  }

  @Override
  public long codeBytes() {
    return codes.codeBytes();
  }

  @Override
  public long scaleBytes() {
    return codes.scaleBytes() + order.bytes();
  }

  @Override
  public void close() {
    order.close();
    codes.close();
  }

  /**
   * Computes attention for a few query rows. Keys are dequantized, because they are spread over a
   * group of heads and are before RoPE. Values are summed on the packed codes and restored once at
   * the end of a pass.
   */
  private static final class RotatekvReader implements PageReader {
    static final PageReaders.Kind<RotatekvReader> KIND =
        new PageReaders.Kind<>(RotatekvReader::new);

    private final DequantizingReader expanded;
    private final UniformReader uniform;
    private final OutputAccumulator outputs;

    private RotatekvReader(PageReaders readers) {
      this.expanded = readers.of(DequantizingReader.KIND);
      this.uniform = readers.of(UniformReader.KIND);
      this.outputs = new OutputAccumulator(readers.kernels(), readers.valueDim());
    }

    @Override
    public void beginPass() {
      outputs.beginPass();
    }

    @Override
    public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
      expanded.score(page, kvHead, queries, rows, scores);
    }

    @Override
    public void accumulate(Page page, int kvHead, float[] weights, int rows, float[] accumulator) {
      RotatekvPage rotated = (RotatekvPage) page;
      float[] out = outputs.accumulator(rotated.codec.valueBasis(), kvHead, rows);
      uniform.accumulate(rotated.codes, kvHead, weights, rows, out);
    }

    @Override
    public void rescale(int row, float factor) {
      outputs.rescale(row, factor);
    }

    @Override
    public void endPass(int rows, float[] accumulator) {
      outputs.endPass(rows, accumulator);
    }
  }
}
