package dev.kvasir.engine;

import dev.kvasir.cache.KvCache;
import java.util.Arrays;
import java.util.Optional;

/**
 * The rows of one decoder step: tokens of one or several sequences, so that the weights are read
 * once for all of them. A sequence's tokens are consecutive and follow what its cache holds.
 *
 * <p>Filled, run through {@link Engine#scope}, read, cleared and filled again; nothing is allocated
 * once it has grown to the size in use.
 */
public final class Batch {
  private int rows;
  private int[] tokens = new int[16];
  private int[] positions = new int[16];

  private int sequences;
  private KvCache[] caches = new KvCache[4];
  private int[] firstRows = new int[4];
  private int[] stepBegins = new int[4]; // -1 where a sequence's rows are its whole step
  private int[] stepEnds = new int[4];
  private RuntimeException[] failures = new RuntimeException[4];

  private int logitRows;
  private int[] rowsWithLogits = new int[4];
  private boolean[] argmaxSuffices = new boolean[4];
  private int[] argmax = new int[4]; // -1 where there are logits instead
  private float[] logits = {};
  private int vocabulary;

  public void clear() {
    Arrays.fill(caches, 0, sequences, null);
    Arrays.fill(failures, 0, sequences, null);
    rows = 0;
    sequences = 0;
    logitRows = 0;
  }

  /**
   * Begins a sequence of which this batch holds only a part of a step: the rows that are added next
   * belong to the step over its positions from {@code stepBegin} to {@code stepEnd}. A step gives
   * the same bits in however many parts it comes; what has left the window is packed at its end.
   */
  public void beginChunk(KvCache cache, int stepBegin, int stepEnd) {
    int next = cache.length();
    if (stepBegin > next || next >= stepEnd) {
      throw new IllegalArgumentException(
          "a step over positions %d to %d; the next position is %d"
              .formatted(stepBegin, stepEnd, next));
    }
    beginSequence(cache);
    stepBegins[sequences - 1] = stepBegin;
    stepEnds[sequences - 1] = stepEnd;
  }

  /**
   * Adds the next token of a sequence; answers the index of its logits, or -1 if none are wanted.
   */
  public int add(KvCache cache, int token, boolean wantLogits) {
    boolean continues = sequences > 0 && caches[sequences - 1] == cache;
    if (!continues) {
      beginSequence(cache);
    }
    int position = cache.length() + rows - firstRows[sequences - 1];
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
      stepBegins = Arrays.copyOf(stepBegins, 2 * sequences);
      stepEnds = Arrays.copyOf(stepEnds, 2 * sequences);
      failures = Arrays.copyOf(failures, 2 * sequences);
    }
    caches[sequences] = cache;
    stepBegins[sequences] = -1;
    firstRows[sequences] = rows;
    sequences++;
  }

  private int wantLogits() {
    if (logitRows == rowsWithLogits.length) {
      rowsWithLogits = Arrays.copyOf(rowsWithLogits, 2 * logitRows);
      argmaxSuffices = Arrays.copyOf(argmaxSuffices, 2 * logitRows);
      argmax = Arrays.copyOf(argmax, 2 * logitRows);
    }
    rowsWithLogits[logitRows] = rows - 1;
    argmaxSuffices[logitRows] = false;
    argmax[logitRows] = -1;
    return logitRows++;
  }

  /**
   * Says that of the logits of an index nothing is needed but the likeliest token, which an engine
   * far from here may bring instead of them.
   */
  public void requestArgmaxOnly(int index) {
    argmaxSuffices[index] = true;
  }

  public boolean argmaxSuffices(int index) {
    return argmaxSuffices[index];
  }

  /** Leaves the likeliest token instead of logits. */
  public void setArgmax(int index, int token) {
    argmax[index] = token;
  }

  /** The likeliest token of an index; -1 where there are logits to find it in. */
  public int argmax(int index) {
    return argmax[index];
  }

  /**
   * After a step: one row of {@link #vocabulary()} logits for each {@link #retain} that wanted any.
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

  /** Why a sequence had no part in the step, or has none in what follows; empty if it went well. */
  public Optional<RuntimeException> failure(KvCache cache) {
    return Optional.ofNullable(failureOrNull(cache));
  }

  /** The same, null if it went well. */
  RuntimeException failureOrNull(KvCache cache) {
    for (int i = 0; i < sequences; i++) {
      if (caches[i] == cache) {
        return failures[i];
      }
    }
    throw new IllegalArgumentException("the sequence has no rows in this batch");
  }

  /** Throws the failure of the first sequence that has one. */
  public void requireNoFailure() {
    for (int i = 0; i < sequences; i++) {
      if (failures[i] != null) {
        throw failures[i];
      }
    }
  }

  /** Holds the pages of all sequences as they are, for a step that is about to read them. */
  public void pin() {
    for (int i = 0; i < sequences; i++) {
      caches[i].pin();
    }
  }

  /** Lets go of what {@link #pin} held. */
  public void unpin() {
    for (int i = 0; i < sequences; i++) {
      caches[i].unpin();
    }
  }

  /** Packs what has left the windows of sequences whose steps have ended. */
  public void quantizeWindow() {
    for (int i = 0; i < sequences; i++) {
      if (!hasFailed(i) && endsStep(i)) {
        try {
          caches[i].quantizeWindow();
        } catch (RuntimeException e) {
          fail(i, e);
        }
      }
    }
  }

  /** May come from several threads at once: any one of a sequence's failures is kept. */
  public void fail(int sequence, RuntimeException why) {
    failures[sequence] = why;
  }

  public boolean hasFailed(int sequence) {
    return failures[sequence] != null;
  }

  /** The position that a sequence's step begins with. */
  public int stepBegin(int sequence) {
    return stepBegins[sequence] < 0 ? positions[firstRow(sequence)] : stepBegins[sequence];
  }

  /** The position after a sequence's step. */
  public int stepEnd(int sequence) {
    return stepBegins[sequence] < 0 ? positions[endRow(sequence) - 1] + 1 : stepEnds[sequence];
  }

  /** Whether these rows are the last of a sequence's step. */
  public boolean endsStep(int sequence) {
    return positions[endRow(sequence) - 1] + 1 == stepEnd(sequence);
  }

  public int token(int row) {
    return tokens[row];
  }

  public int position(int row) {
    return positions[row];
  }

  public int sequences() {
    return sequences;
  }

  public KvCache cache(int sequence) {
    return caches[sequence];
  }

  public int firstRow(int sequence) {
    return firstRows[sequence];
  }

  public int endRow(int sequence) {
    return sequence + 1 < sequences ? firstRows[sequence + 1] : rows;
  }

  public int logitRows() {
    return logitRows;
  }

  public int rowWithLogits(int index) {
    return rowsWithLogits[index];
  }

  public float[] allocateLogits(int vocabularySize) {
    vocabulary = vocabularySize;
    int wanted = Math.multiplyExact(logitRows, vocabularySize);
    if (logits.length < wanted) {
      logits = new float[wanted];
    }
    return logits;
  }
}
