package dev.kvasir.codec.basis;

import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.codec.uniform.UniformPageSerializer;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.HeadShape;
import java.nio.ByteBuffer;

/**
 * A layer's keys and values as matrices of codes in a transformed basis. Serialized:
 *
 * <pre>
 * u32  fingerprint of the basis of keys
 * u32  fingerprint of the basis of values
 *      codes, by UniformPageSerializer
 * </pre>
 */
public final class BasisPage implements Page {
  /** The snapshot kind of this page. */
  private static final int KIND = 20;

  private final UniformPage codes;
  private final HeadBasis keys;
  private final HeadBasis values;

  BasisPage(UniformPage codes, HeadBasis keys, HeadBasis values) {
    this.codes = codes;
    this.keys = keys;
    this.values = values;
  }

  @Override
  public byte[] serialize() {
    return SnapshotHeader.PAGE.wrap(
        KIND,
        2 * Integer.BYTES + UniformPageSerializer.bytes(codes),
        out -> {
          out.putInt(keys.fingerprint()).putInt(values.fingerprint());
          UniformPageSerializer.write(codes, out);
        });
  }

  /** Reads a page written by {@link #serialize}. */
  static BasisPage read(
      SharedArena memory,
      Snapshot snapshot,
      int kvHeads,
      HeadShape head,
      OperandPrecision operandPrecision,
      HeadBasis keys,
      HeadBasis values) {
    return SnapshotHeader.PAGE.unwrap(
        snapshot,
        KIND,
        in -> {
          requireBasis("keys", in, keys);
          requireBasis("values", in, values);
          UniformPage codes =
              UniformPageSerializer.read(memory, in, kvHeads, found -> head, operandPrecision);
          return new BasisPage(codes, keys, values);
        });
  }

  /** Rejects vectors in a basis other than the cache's. */
  public static void requireBasis(String what, ByteBuffer in, HeadBasis known) {
    int found = in.getInt();
    if (found != known.fingerprint()) {
      throw SnapshotHeader.PAGE.invalid(
          "has %s in basis %08x; this cache has them in %08x"
              .formatted(what, found, known.fingerprint()));
    }
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return readers.of(BasisReader.KIND);
  }

  UniformPage codes() {
    return codes;
  }

  HeadBasis keyBasis() {
    return keys;
  }

  HeadBasis valueBasis() {
    return values;
  }

  @Override
  public void dequantizeKeys(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    codes.dequantizeKeys(workspace, kvHead, tokens, out);
    keys.invert(kvHead, out, 0, tokens);
  }

  @Override
  public void dequantizeValues(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    codes.dequantizeValues(workspace, kvHead, tokens, out);
    values.invert(kvHead, out, 0, tokens);
  }

  @Override
  public long codeBytes() {
    return codes.codeBytes();
  }

  @Override
  public long scaleBytes() {
    return codes.scaleBytes();
  }

  @Override
  public void close() {
    codes.close();
  }
}
