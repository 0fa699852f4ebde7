package dev.kvasir.lab.eval;

import dev.kvasir.cache.CacheSettings;
import dev.kvasir.cache.CacheShape;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.PagedCache;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.kivi.KiviCodec;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.page.Page;
import dev.kvasir.page.UniformShape;
import java.util.Optional;

/**
 * Keys as 4-bit codes whose highest plane reads as zeros, which is what a wrong offset in a layout
 * would do. The codes are worked out here and kept in 8 bits, so nothing else is lost.
 */
final class BrokenPlaneCodec implements PageCodec {
  private final CacheShape shape;
  private final PageCodec exact;

  private BrokenPlaneCodec(CacheShape shape) {
    this.shape = shape;
    this.exact = new KiviCodec(new UniformShape(shape.kvHeads(), shape.headDim(), 8, 128, 8, 128));
  }

  static KvCache newCache(CacheShape shape) {
    PageCodec codec = new BrokenPlaneCodec(shape);
    return new PagedCache(shape, new CacheSettings(Precision.F16, 0, 0, Optional.of(codec)));
  }

  @Override
  public Page seal(int layer, float[] keys, float[] values) {
    float[] broken = keys.clone();
    for (int head = 0; head < shape.kvHeads(); head++) {
      for (int channel = 0; channel < shape.headDim(); channel++) {
        breakChannel(broken, head * Page.TOKENS * shape.headDim() + channel);
      }
    }
    return exact.seal(layer, broken, values);
  }

  private void breakChannel(float[] keys, int at) {
    int stride = shape.headDim();
    float low = Float.POSITIVE_INFINITY;
    float high = Float.NEGATIVE_INFINITY;
    for (int token = 0; token < Page.TOKENS; token++) {
      low = Math.min(low, keys[at + token * stride]);
      high = Math.max(high, keys[at + token * stride]);
    }
    float step = Math.max(1e-6f, (high - low) / 15);
    for (int token = 0; token < Page.TOKENS; token++) {
      int code = Math.round((keys[at + token * stride] - low) / step);
      keys[at + token * stride] = low + (code & 7) * step;
    }
  }

  @Override
  public long pageBytes() {
    return exact.pageBytes();
  }

  @Override
  public long codeBytes() {
    return exact.codeBytes();
  }
}
