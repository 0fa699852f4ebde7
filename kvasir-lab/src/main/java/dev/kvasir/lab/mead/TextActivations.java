package dev.kvasir.lab.mead;

import dev.kvasir.lab.codebook.SampleStorage;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The keys and values of all layers for one text, stored off heap in {@link TokenKvLayout}, with
 * the page ranks of its tokens.
 */
final class TextActivations {
  private final int[] tokens;
  private final int width;
  private final MemorySegment vectors; // (layers, tokens, width)
  private final PageRanks[] ranks; // by layer

  private TextActivations(MemorySegment vectors, int[] tokens, int layers, int width) {
    this.tokens = tokens;
    this.width = width;
    this.vectors = vectors;
    this.ranks = new PageRanks[layers];
  }

  /**
   * @param name name of the text, unique among the stored ones
   */
  static TextActivations of(
      SampleStorage storage, String name, int[] tokens, TextStatistics read, int kvHeads) {
    int layers = read.vectors().length;
    int width = read.vectors()[0].length / tokens.length;
    MemorySegment memory =
        storage.allocate(name, (long) Float.BYTES * layers * tokens.length * width);
    TextActivations activations = new TextActivations(memory, tokens, layers, width);
    for (int layer = 0; layer < layers; layer++) {
      PageRanks ranks = new PageRanks(read.attentionMass()[layer], kvHeads);
      activations.store(layer, read.vectors()[layer], ranks);
    }
    return activations;
  }

  private void store(int layer, float[] joined, PageRanks ranksOfLayer) {
    long at = (long) Float.BYTES * layer * tokens.length * width;
    MemorySegment.copy(joined, 0, vectors, ValueLayout.JAVA_FLOAT, at, joined.length);
    ranks[layer] = ranksOfLayer;
  }

  int[] tokens() {
    return tokens;
  }

  PageRanks ranks(int layer) {
    return ranks[layer];
  }

  /**
   * @param from first element of the token to read
   * @param out (count) from {@code outAt} on, set
   */
  void read(int layer, int token, int from, int count, float[] out, int outAt) {
    long at = (long) Float.BYTES * (((long) layer * tokens.length + token) * width + from);
    MemorySegment.copy(vectors, ValueLayout.JAVA_FLOAT, at, out, outAt, count);
  }
}
