package dev.kvasir.cache;

import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.QuantizationBatch;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.SnapshotAssertions;
import java.util.ArrayList;
import java.util.List;

/**
 * The serialized pages and state of a sequence of one KV head of eight channels in one layer.
 *
 * @param pages of two blocks, each quantized as a batch of its own
 */
public record QuantizedForms(List<byte[]> pages, byte[] state) {
  static final CacheShape SHAPE = new CacheShape(1, 1, 8);
  static final int CHANNELS = SHAPE.headDim();

  /** Quantizes two blocks, the second in a batch of its own. */
  public static QuantizedForms of(String spec) {
    return of(spec, SHAPE);
  }

  static QuantizedForms of(String spec, CacheShape shape) {
    PageCodec method = codec(spec, shape);
    List<byte[]> pages = new ArrayList<>();
    try (SequenceCodec codec = method.newSequence()) {
      for (int position = 0; position < 2 * Page.TOKENS; position += Page.TOKENS) {
        for (int token = position;
            codec.observesQueries() && token < position + Page.TOKENS;
            token++) {
          codec.observe(0, token, vectors(1, 0), 0);
        }
        codec.learn(new Run(position));
        try (Page page = codec.quantize(0, position, block(position), block(position + 1))) {
          pages.add(page.serialize());
        }
      }
      return new QuantizedForms(pages, codec.serializeState());
    }
  }

  static PageCodec codec(String spec, CacheShape shape) {
    CacheContext context = CacheContext.unknown().withQueryHeads(1);
    return CacheSpec.parse(spec).configFor(shape).cacheConfig(shape, context).codec().orElseThrow();
  }

  private record Run(int position) implements QuantizationBatch {
    @Override
    public int blocks() {
      return 1;
    }

    @Override
    public void readBlock(int layer, int block, float[] keys, float[] values) {
      System.arraycopy(block(position), 0, keys, 0, keys.length);
      System.arraycopy(block(position + 1), 0, values, 0, values.length);
    }
  }

  private static float[] block(int seed) {
    return vectors(Page.TOKENS, seed);
  }

  /** Returns whole numbers whose range grows from channel to channel. */
  private static float[] vectors(int tokens, int seed) {
    float[] x = SnapshotAssertions.wholeNumbers(tokens * CHANNELS);
    for (int i = 0; i < x.length; i++) {
      x[i] = x[i] * (1 + i % CHANNELS) + seed;
    }
    return x;
  }
}
