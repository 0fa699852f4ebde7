package dev.kvasir.model;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cache.KvCache;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Checks the attention that a sequence observes against a softmax over its whole past, computed in
 * double precision from the keys that attention uses.
 */
final class PlainAttention implements AttentiveSequence.AttentionListener {
  private static final double UNITS = 1 << 18;

  /** Tolerance in addition to the rounding of each head: scores and sums are 24-bit floats. */
  private static final double CLOSE = 2;

  private final Kernels kernels = new ScalarKernels();
  private final KvCache cache;
  private final AttentionShape shape;
  private final int window;
  private final int reach;
  private final Map<String, float[]> queries = new ConcurrentHashMap<>();
  private final Queue<String> errors = new ConcurrentLinkedQueue<>();
  private final AtomicInteger checked = new AtomicInteger();

  PlainAttention(KvCache cache, AttentionShape shape, int window, int reach) {
    this.cache = cache;
    this.shape = shape;
    this.window = window;
    this.reach = reach;
  }

  Queue<String> errors() {
    return errors;
  }

  /** Returns the number of weights that were checked. */
  int checked() {
    return checked.get();
  }

  @Override
  public void query(int layer, int position, float[] source, int at) {
    float[] query = new float[shape.queryHeads() * shape.keyDim()];
    System.arraycopy(source, at, query, 0, query.length);
    queries.put(layer + " " + position, query);
  }

  @Override
  public void given(int layer, int kvHead, int from, int[] weights, int count) {
    int position = from + count - 1;
    String where = "layer %d, head %d, query %d: ".formatted(layer, kvHead, position);
    if (from != firstResidual(layer, position)) {
      errors.add(where + "from " + from + ", not " + firstResidual(layer, position));
    }
    double[] expected = expected(layer, kvHead, position);
    for (int i = 0; i < count; i++) {
      double off = weights[i] - expected[from + i];
      if (!(Math.abs(off) <= CLOSE + 0.5 * shape.queriesPerKvHead())) {
        errors.add(where + "token %d is off by %f".formatted(from + i, off));
      }
      checked.incrementAndGet();
    }
  }

  private int firstResidual(int layer, int position) {
    int first = position;
    while (first > Math.max(0, position - Math.min(window, reach) + 1)
        && cache.view(layer, cache.blockOf(first - 1)).page() == null) {
      first--;
    }
    return first;
  }

  /** Returns the weights of all positions up to one, in units. */
  private double[] expected(int layer, int kvHead, int position) {
    float[][] keys = keys(layer, kvHead, position);
    float[] query = queries.get(layer + " " + position);
    double[] weights = new double[position + 1];
    int first = (int) Math.max(0, position - (long) window + 1);
    for (int shared = 0; shared < shape.queriesPerKvHead(); shared++) {
      int at = (kvHead * shape.queriesPerKvHead() + shared) * shape.keyDim();
      double[] exponentials = new double[position + 1];
      double sum = 0;
      for (int t = first; t <= position; t++) {
        double dot = 0;
        for (int i = 0; i < shape.keyDim(); i++) {
          dot += (double) query[at + i] * keys[t][i];
        }
        exponentials[t] = Math.exp(dot / Math.sqrt(shape.keyDim()));
        sum += exponentials[t];
      }
      for (int t = first; t <= position; t++) {
        weights[t] += exponentials[t] / sum * UNITS;
      }
    }
    return weights;
  }

  private float[][] keys(int layer, int kvHead, int position) {
    float[][] keys = new float[position + 1][shape.keyDim()];
    float[] scratch = new float[KvCache.TOKENS_PER_PAGE * shape.keyDim()];
    for (int block = 0; block <= cache.blockOf(position); block++) {
      int first = cache.firstPosition(block);
      int tokens = Math.min(position + 1, cache.firstPosition(block + 1)) - first;
      cache.view(layer, block).expandKeys(kernels, kvHead, tokens, scratch);
      for (int t = 0; t < tokens; t++) {
        System.arraycopy(scratch, t * shape.keyDim(), keys[first + t], 0, shape.keyDim());
      }
    }
    return keys;
  }
}
