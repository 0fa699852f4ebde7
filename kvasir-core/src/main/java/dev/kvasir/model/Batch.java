package dev.kvasir.model;

import dev.kvasir.cache.KvCache;
import java.util.Arrays;

/**
 * The rows of one decoder step: tokens of one or several sequences, so that the weights are read
 * once for all of them. A sequence's tokens are consecutive and follow what its cache holds.
 *
 * <p>Filled, run through {@link Decoder#forward}, read, cleared and filled again; nothing is
 * allocated once it has grown to the size in use.
 */
public final class Batch {
  private int rows;
  private int[] tokens = new int[16];
  private int[] positions = new int[16];

  private int sequences;
  private KvCache[] caches = new KvCache[4];
  private int[] firstRows = new int[4];

  private int logitRows;
  private int[] rowsWithLogits = new int[4];
  private float[] logits = {};
  private int vocabulary;

  public void clear() {
    Arrays.fill(caches, 0, sequences, null);
    rows = 0;
    sequences = 0;
    logitRows = 0;
  }

  /**
   * Adds the next token of a sequence; answers the index of its logits, or -1 if none are wanted.
   */
  public int add(KvCache cache, int token, boolean wantLogits) {
    boolean continues = sequences > 0 && caches[sequences - 1] == cache;
    int position = continues ? positions[rows - 1] + 1 : cache.length();
    if (!continues) {
      beginSequence(cache);
    }
    if (rows == tokens.length) {
      tokens = Arrays.copyOf(tokens, 2 * rows);
      positions = Arrays.copyOf(positions, 2 * rows);
    }
    tokens[rows] = token;
    positions[rows] = position;
    rows++;
    return wantLogits ? wantLogits() : -1;
  }

  private void beginSequence(KvCache cache) {
    for (int i = 0; i < sequences; i++) {
      if (caches[i] == cache) {
        throw new IllegalArgumentException("a sequence's tokens must be added one after another");
      }
    }
    if (sequences == caches.length) {
      caches = Arrays.copyOf(caches, 2 * sequences);
      firstRows = Arrays.copyOf(firstRows, 2 * sequences);
    }
    caches[sequences] = cache;
    firstRows[sequences] = rows;
    sequences++;
  }

  private int wantLogits() {
    if (logitRows == rowsWithLogits.length) {
      rowsWithLogits = Arrays.copyOf(rowsWithLogits, 2 * logitRows);
    }
    rowsWithLogits[logitRows] = rows - 1;
    return logitRows++;
  }

  /**
   * After a step: one row of {@link #vocabulary()} logits for each {@link #add} that wanted any.
   */
  public float[] logits() {
    return logits;
  }

  /** Where the logits of index {@code index} begin. */
  public int logitsAt(int index) {
    return index * vocabulary;
  }

  public int vocabulary() {
    return vocabulary;
  }

  public int rows() {
    return rows;
  }

  int token(int row) {
    return tokens[row];
  }

  int position(int row) {
    return positions[row];
  }

  int sequences() {
    return sequences;
  }

  KvCache cache(int sequence) {
    return caches[sequence];
  }

  int firstRow(int sequence) {
    return firstRows[sequence];
  }

  int endRow(int sequence) {
    return sequence + 1 < sequences ? firstRows[sequence + 1] : rows;
  }

  int logitRows() {
    return logitRows;
  }

  int rowWithLogits(int index) {
    return rowsWithLogits[index];
  }

  float[] roomForLogits(int vocabularySize) {
    vocabulary = vocabularySize;
    int wanted = Math.multiplyExact(logitRows, vocabularySize);
    if (logits.length < wanted) {
      logits = new float[wanted];
    }
    return logits;
  }
}
