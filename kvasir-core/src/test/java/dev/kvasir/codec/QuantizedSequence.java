package dev.kvasir.codec;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A sequence without a cache. A codec quantizes, serializes and restores blocks of synthetic
 * vectors, which are the same at the same positions.
 */
public final class QuantizedSequence implements AutoCloseable {
  private static final int TOKENS = Page.TOKENS;
  private static final int FIRST = 3; // simulates attention sinks

  /** The persistent state of a sequence. */
  public record SequenceSnapshot(byte[] state, List<List<byte[]>> blocks) {}

  private final CacheShape shape;
  private final PageCodec method;
  private final SequenceCodec codec;
  private final List<List<Page>> blocks = new ArrayList<>(); // (blocks, layers)

  private QuantizedSequence(CacheShape shape, PageCodec method, SequenceCodec codec) {
    this.shape = shape;
    this.method = method;
    this.codec = codec;
  }

  public static QuantizedSequence begin(CacheShape shape, PageCodec method) {
    return new QuantizedSequence(shape, method, method.newSequence());
  }

  public static QuantizedSequence resume(
      CacheShape shape, PageCodec method, SequenceSnapshot stored) {
    QuantizedSequence sequence =
        new QuantizedSequence(shape, method, method.resumeSequence(stored.state()));
    for (List<byte[]> forms : stored.blocks()) {
      List<Page> pages = new ArrayList<>();
      sequence.blocks.add(pages);
      for (int layer = 0; layer < shape.layers(); layer++) {
        pages.add(sequence.codec.deserialize(layer, forms.get(layer)));
      }
    }
    return sequence;
  }

  public SequenceSnapshot snapshot() {
    return new SequenceSnapshot(
        codec.serializeState(),
        blocks.stream().map(pages -> pages.stream().map(Page::serialize).toList()).toList());
  }

  public SequenceCodec codec() {
    return codec;
  }

  public Page page(int layer, int block) {
    return blocks.get(block).get(layer);
  }

  public int blockCount() {
    return blocks.size();
  }

  private int position(int block) {
    return FIRST + block * TOKENS;
  }

  /** Quantizes {@code times} groups of blocks in one batch. */
  public void grow(int times) {
    int first = blocks.size();
    int end = first + times * method.blocksPerGroup();
    observe(position(first), position(end));
    codec.learn(new SyntheticBatch(first, end - first));
    for (int block = first; block < end; block++) {
      List<Page> pages = new ArrayList<>();
      blocks.add(pages);
      for (int layer = 0; layer < shape.layers(); layer++) {
        float[] keys = vectors(layer, block, 0);
        pages.add(codec.quantize(layer, position(block), keys, vectors(layer, block, 1)));
      }
    }
  }

  /** Observes tokens that are not quantized yet. */
  public void observeBeyond(int tokens) {
    observe(position(blocks.size()), position(blocks.size()) + tokens);
  }

  /** Lowers the level of new pages and of the first block, if the codec supports it. */
  public void requantize() {
    if (!(codec instanceof RequantizingSequence requantizing)) {
      return;
    }
    for (int layer = 0; layer < shape.layers(); layer++) {
      int floor = ((RequantizingCodec) method).floorLevel(layer);
      requantizing.setLevel(layer, Math.min(floor, requantizing.level(layer) + 1));
      Page wide = page(layer, 0);
      if (requantizing.level(wide) < floor) {
        blocks
            .getFirst()
            .set(layer, requantizing.requantize(layer, wide, requantizing.level(wide) + 1));
        wide.close();
      }
    }
  }

  /** Keeps the first blocks, and some tokens of the next one, which will differ. */
  public void truncate(int kept) {
    while (blocks.size() > kept) {
      blocks.removeLast().forEach(Page::close);
    }
    codec.truncate(position(kept) + 7);
  }

  private void observe(int from, int to) {
    for (int position = from; codec.observesQueries() && position < to; position++) {
      for (int layer = 0; layer < shape.layers(); layer++) {
        int count = shape.kvHeads() * shape.keyDim();
        codec.observe(layer, position, gaussian(count, 100_000L * layer + position), 0);
      }
    }
  }

  /** The vectors of consecutive blocks. */
  private final class SyntheticBatch implements QuantizationBatch {
    private final int first;
    private final int count;

    SyntheticBatch(int first, int count) {
      this.first = first;
      this.count = count;
    }

    @Override
    public int position() {
      return QuantizedSequence.this.position(first);
    }

    @Override
    public int blocks() {
      return count;
    }

    @Override
    public void readBlock(int layer, int block, float[] keys, float[] values) {
      System.arraycopy(vectors(layer, first + block, 0), 0, keys, 0, keys.length);
      System.arraycopy(vectors(layer, first + block, 1), 0, values, 0, values.length);
    }
  }

  /** Returns vectors (kvHeads, tokens, keyDim or valueDim). */
  private float[] vectors(int layer, int block, int side) {
    int width = side == 0 ? shape.keyDim() : shape.valueDim();
    int count = shape.kvHeads() * TOKENS * width;
    return gaussian(count, 1_000_000L * (1 + block) + 2 * layer + side);
  }

  private static float[] gaussian(int count, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = (float) random.nextGaussian() + i % 3;
    }
    return x;
  }

  @Override
  public void close() {
    codec.close();
    blocks.forEach(pages -> pages.forEach(Page::close));
  }
}
