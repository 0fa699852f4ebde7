package dev.kvasir.codec;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A sequence without a cache: blocks of made-up vectors, the same at the same positions, sealed by
 * a codec, stored and read again.
 */
public final class SealedSequence implements AutoCloseable {
  private static final int TOKENS = Page.TOKENS;
  private static final int FIRST = 3; // as if there were sinks

  /** What is left of a sequence when its process ends. */
  public record Stored(byte[] state, List<List<byte[]>> blocks) {}

  private final CacheShape shape;
  private final PageCodec method;
  private final SequenceCodec codec;
  private final List<List<Page>> blocks = new ArrayList<>(); // (blocks, layers)

  private SealedSequence(CacheShape shape, PageCodec method, SequenceCodec codec) {
    this.shape = shape;
    this.method = method;
    this.codec = codec;
  }

  public static SealedSequence begin(CacheShape shape, PageCodec method) {
    return new SealedSequence(shape, method, method.begin());
  }

  public static SealedSequence resume(CacheShape shape, PageCodec method, Stored stored) {
    SealedSequence sequence = new SealedSequence(shape, method, method.resume(stored.state()));
    for (List<byte[]> forms : stored.blocks()) {
      List<Page> pages = new ArrayList<>();
      sequence.blocks.add(pages);
      for (int layer = 0; layer < shape.layers(); layer++) {
        pages.add(sequence.codec.read(layer, forms.get(layer)));
      }
    }
    return sequence;
  }

  public Stored stored() {
    return new Stored(
        codec.state(),
        blocks.stream().map(pages -> pages.stream().map(Page::form).toList()).toList());
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

  /** Seals blocks in one run, as many as a codec wants together or so many times as many. */
  public void grow(int times) {
    int first = blocks.size();
    int end = first + times * method.blocksTogether();
    see(position(first), position(end));
    codec.learn(new Run(first, end - first));
    for (int block = first; block < end; block++) {
      List<Page> pages = new ArrayList<>();
      blocks.add(pages);
      for (int layer = 0; layer < shape.layers(); layer++) {
        float[] keys = vectors(layer, block, 0);
        pages.add(codec.seal(layer, position(block), keys, vectors(layer, block, 1)));
      }
    }
  }

  /** Sees tokens that are not sealed yet. */
  public void goBeyond(int tokens) {
    see(position(blocks.size()), position(blocks.size()) + tokens);
  }

  /** Makes pages that are to come narrower, and those of the first block, where they shrink. */
  public void shrink() {
    if (!(codec instanceof ShrinkingSequence shrinking)) {
      return;
    }
    for (int layer = 0; layer < shape.layers(); layer++) {
      int floor = ((ShrinkingCodec) method).floor(layer);
      shrinking.moveTo(layer, Math.min(floor, shrinking.level(layer) + 1));
      Page wide = page(layer, 0);
      if (shrinking.level(wide) < floor) {
        blocks.getFirst().set(layer, shrinking.shrunk(wide, shrinking.level(wide) + 1));
        wide.close();
      }
    }
  }

  /** Keeps the first blocks, and some tokens of the next that will be another's. */
  public void truncate(int kept) {
    while (blocks.size() > kept) {
      blocks.removeLast().forEach(Page::close);
    }
    codec.truncate(position(kept) + 7);
  }

  private void see(int from, int to) {
    for (int position = from; codec.seesQueries() && position < to; position++) {
      for (int layer = 0; layer < shape.layers(); layer++) {
        int count = shape.kvHeads() * shape.keyDim();
        codec.see(layer, position, gaussian(count, 100_000L * layer + position), 0);
      }
    }
  }

  /** The vectors of a block from its first position on. */
  private final class Run implements SealingRun {
    private final int first;
    private final int count;

    Run(int first, int count) {
      this.first = first;
      this.count = count;
    }

    @Override
    public int position() {
      return SealedSequence.this.position(first);
    }

    @Override
    public int blocks() {
      return count;
    }

    @Override
    public void expand(int layer, int block, float[] keys, float[] values) {
      System.arraycopy(vectors(layer, first + block, 0), 0, keys, 0, keys.length);
      System.arraycopy(vectors(layer, first + block, 1), 0, values, 0, values.length);
    }
  }

  /** (kvHeads, tokens, keyDim or valueDim). */
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
