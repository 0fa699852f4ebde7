package dev.kvasir.cache;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SequenceObserver;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Holds what a codec observes of the tokens of a draft until they are committed. The codec then
 * observes each token in order, as if it had been a step of its own; it never learns of a token
 * that was dropped.
 *
 * <pre>
 * tokens   (tokens)
 * queries  (tokens, layers, queryChannels)     if the codec observes queries
 * mass     (tokens, layers, kvHeads)(count)    if it observes attention; the most heads of a layer
 * </pre>
 */
final class DraftObserver implements SequenceObserver {
  private final int layers;
  private final int kvHeads;
  private final SequenceObserver target; // null if nothing is observed

  private boolean isOpen;
  private int first; // position of the first token
  private int replayed; // position after the last token that the target has observed
  private int queryChannels;
  private int[] tokens = {};
  private float[] queries = {};
  private int[][] mass = {}; // by token, layer and KV head
  private int[] massCounts = {}; // 0 if nothing was observed
  private int[] massBegins = {};

  DraftObserver(CacheShape shape, SequenceObserver target) {
    this.layers = shape.layers();
    this.kvHeads =
        IntStream.range(0, layers).map(layer -> shape.headsOf(layer).kvHeads()).max().orElse(0);
    this.target = target;
  }

  /** Returns itself during a draft, otherwise the codec. */
  SequenceObserver orTarget() {
    return isOpen ? this : target;
  }

  void begin(int position, int count, int channels) {
    if (target == null) {
      return;
    }
    isOpen = true;
    first = position;
    replayed = position;
    queryChannels = channels;
    ensureCapacity(count);
    Arrays.fill(massCounts, 0);
  }

  private void ensureCapacity(int count) {
    if (tokens.length < count) {
      tokens = new int[count];
    }
    int queryCount = observesQueries() ? count * layers * queryChannels : 0;
    if (queries.length < queryCount) {
      queries = new float[queryCount];
    }
    int heads = attentionHorizon() > 0 ? count * layers * kvHeads : 0;
    if (mass.length < heads) {
      int held = mass.length;
      mass = Arrays.copyOf(mass, heads);
      Arrays.fill(mass, held, heads, new int[0]);
      massCounts = new int[heads];
      massBegins = new int[heads];
    }
  }

  void end() {
    isOpen = false;
  }

  /** Lets the codec observe the tokens before a position, as far as it has not. */
  void replayBefore(int position) {
    for (; isOpen && replayed < position; replayed++) {
      replay(replayed - first);
    }
  }

  private void replay(int token) {
    if (observesTokens()) {
      target.observe(first + token, tokens[token]);
    }
    for (int layer = 0; layer < layers; layer++) {
      if (observesQueries()) {
        target.observe(layer, first + token, queries, queriesAt(token, layer));
      }
      for (int head = 0; attentionHorizon() > 0 && head < kvHeads; head++) {
        int index = massIndex(token, layer, head);
        if (massCounts[index] > 0) {
          target.observeAttention(layer, head, massBegins[index], mass[index], massCounts[index]);
        }
      }
    }
  }

  private int queriesAt(int token, int layer) {
    return (token * layers + layer) * queryChannels;
  }

  private int massIndex(int token, int layer, int kvHead) {
    return (token * layers + layer) * kvHeads + kvHead;
  }

  @Override
  public boolean observesTokens() {
    return target.observesTokens();
  }

  @Override
  public void observe(int position, int token) {
    tokens[position - first] = token;
  }

  @Override
  public boolean observesQueries() {
    return target.observesQueries();
  }

  @Override
  public void observe(int layer, int position, float[] source, int at) {
    System.arraycopy(source, at, queries, queriesAt(position - first, layer), queryChannels);
  }

  @Override
  public int attentionHorizon() {
    return target.attentionHorizon();
  }

  @Override
  public void observeAttention(int layer, int kvHead, int from, int[] weights, int count) {
    int index = massIndex(from + count - 1 - first, layer, kvHead);
    if (mass[index].length < count) {
      mass[index] = new int[Math.max(count, 2 * mass[index].length)];
    }
    System.arraycopy(weights, 0, mass[index], 0, count);
    massBegins[index] = from;
    massCounts[index] = count;
  }

  @Override
  public boolean dependsOnAttention() {
    return target.dependsOnAttention();
  }
}
