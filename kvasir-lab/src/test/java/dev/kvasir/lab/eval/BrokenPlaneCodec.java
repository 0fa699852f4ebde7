package dev.kvasir.lab.eval;

import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.PagedCache;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.codec.kivi.KiviCodec;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.HeadShape;
import dev.kvasir.page.RowScaledCodes;
import dev.kvasir.page.WordLayout;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/**
 * Four-bit keys and values whose upper two key bits are cleared in the packed bytes, as a wrong
 * offset in a layout would do.
 */
final class BrokenPlaneCodec implements StatelessCodec {
  /** The lower two bits of both codes of a byte. */
  private static final int LOW_BITS = 0b0011_0011;

  private final CacheShape shape;
  private final KiviCodec whole;

  private BrokenPlaneCodec(CacheShape shape) {
    this.shape = shape;
    this.whole =
        new KiviCodec(
            shape.kvHeads(),
            HeadShape.uniform(shape.headDim(), 4, 128, 4, 128),
            OperandPrecision.EXACT);
  }

  static KvCache newCache(CacheShape shape) {
    PageCodec codec = new BrokenPlaneCodec(shape);
    return new PagedCache(shape, new CacheConfig(Precision.F16, 0, 0, Optional.of(codec)));
  }

  @Override
  public Page quantize(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    UniformPage page = (UniformPage) whole.quantize(memory, layer, position, keys, values);
    for (int head = 0; head < shape.kvHeads(); head++) {
      RowScaledCodes codes = (RowScaledCodes) page.shape(head).keys().getFirst();
      wipe(page, page.keysOffset(head), codes.layout());
    }
    return page;
  }

  @Override
  public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
    return whole.deserialize(memory, layer, snapshot);
  }

  private static void wipe(UniformPage page, long offset, WordLayout layout) {
    for (int i = 0; i < layout.bytes(); i++) {
      byte both = page.bytes().get(ValueLayout.JAVA_BYTE, offset + i);
      page.bytes().set(ValueLayout.JAVA_BYTE, offset + i, (byte) (both & LOW_BITS));
    }
  }

  @Override
  public long pageBytes() {
    return whole.pageBytes();
  }

  @Override
  public long codeBytes() {
    return whole.codeBytes();
  }
}
