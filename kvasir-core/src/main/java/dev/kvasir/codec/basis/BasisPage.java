package dev.kvasir.codec.basis;

import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Form;
import dev.kvasir.codec.Lookups;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.codec.uniform.UniformForm;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.HeadShape;
import java.nio.ByteBuffer;

/**
 * A layer's keys and values in grids of codes, in a basis of their own. Stored:
 *
 * <pre>
 * u32  fingerprint of the basis of keys
 * u32  fingerprint of the basis of values
 *      codes, a UniformForm
 * </pre>
 */
public final class BasisPage implements Page {
  /** Its number among stored pages. */
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
  public byte[] form() {
    return Envelope.PAGE.seal(
        KIND,
        2 * Integer.BYTES + UniformForm.bytes(codes),
        out -> {
          out.putInt(keys.fingerprint()).putInt(values.fingerprint());
          UniformForm.write(codes, out);
        });
  }

  /** Reads what {@link #form} wrote. */
  static BasisPage read(
      SharedArena memory,
      Form form,
      int kvHeads,
      HeadShape head,
      Lookups lookups,
      HeadBasis keys,
      HeadBasis values) {
    return Envelope.PAGE.open(
        form,
        KIND,
        in -> {
          requireBasis("keys", in, keys);
          requireBasis("values", in, values);
          UniformPage codes = UniformForm.read(memory, in, kvHeads, found -> head, lookups);
          return new BasisPage(codes, keys, values);
        });
  }

  /** Refuses vectors in another basis than that of the cache. */
  public static void requireBasis(String what, ByteBuffer in, HeadBasis known) {
    int found = in.getInt();
    if (found != known.fingerprint()) {
      throw Envelope.PAGE.refused(
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
  public void expandKeys(PageRoom room, int kvHead, int tokens, float[] out) {
    codes.expandKeys(room, kvHead, tokens, out);
    keys.restore(kvHead, out, 0, tokens);
  }

  @Override
  public void expandValues(PageRoom room, int kvHead, int tokens, float[] out) {
    codes.expandValues(room, kvHead, tokens, out);
    values.restore(kvHead, out, 0, tokens);
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
