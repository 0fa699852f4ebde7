package dev.kvasir.lab.mead;

import dev.kvasir.lab.codebook.SamplePlace;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * What the layers attended with in one text, kept outside the heap: {@link HeadVectors} of each
 * token, and where tokens stand on their pages.
 */
final class KeptText {
  private final int[] tokens;
  private final int width;
  private final MemorySegment vectors; // (layers, tokens, width)
  private final PageRanks[] ranks; // by layer
  private final float[][] received; // by layer: (tokens, kvHeads)

  private KeptText(MemorySegment vectors, int[] tokens, int layers, int width) {
    this.tokens = tokens;
    this.width = width;
    this.vectors = vectors;
    this.ranks = new PageRanks[layers];
    this.received = new float[layers][];
  }

  /**
   * @param name of the text among all that are kept
   */
  static KeptText of(SamplePlace place, String name, int[] tokens, ReadText read, int kvHeads) {
    int layers = read.vectors().length;
    int width = read.vectors()[0].length / tokens.length;
    MemorySegment room = place.room(name, (long) Float.BYTES * layers * tokens.length * width);
    KeptText kept = new KeptText(room, tokens, layers, width);
    for (int layer = 0; layer < layers; layer++) {
      float[] received = read.received()[layer];
      kept.keep(layer, read.vectors()[layer], received, new PageRanks(received, kvHeads));
    }
    return kept;
  }

  private void keep(int layer, float[] joined, float[] receivedByLayer, PageRanks ranksOfLayer) {
    long at = (long) Float.BYTES * layer * tokens.length * width;
    MemorySegment.copy(joined, 0, vectors, ValueLayout.JAVA_FLOAT, at, joined.length);
    received[layer] = receivedByLayer;
    ranks[layer] = ranksOfLayer;
  }

  int[] tokens() {
    return tokens;
  }

  PageRanks ranks(int layer) {
    return ranks[layer];
  }

  /** (tokens, kvHeads) */
  float[] received(int layer) {
    return received[layer];
  }

  /**
   * @param from the first of the token's numbers that is wanted
   * @param out (count) from {@code outAt} on, set
   */
  void read(int layer, int token, int from, int count, float[] out, int outAt) {
    long at = (long) Float.BYTES * (((long) layer * tokens.length + token) * width + from);
    MemorySegment.copy(vectors, ValueLayout.JAVA_FLOAT, at, out, outAt, count);
  }
}
