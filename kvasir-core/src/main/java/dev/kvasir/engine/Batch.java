package dev.kvasir.engine;

import dev.kvasir.cache.KvCache;
import java.util.Arrays;
import java.util.Optional;

/**
 * The rows of one decoder step: tokens of one or several sequences, so that the weights are read
 * once for all of them. A sequence's tokens are consecutive and follow its cached tokens.
 *
 * <p>A batch is filled, run through {@link Engine#step}, read, cleared and filled again. It
 * allocates nothing once it has grown to the size in use.
 */
public final class Batch {
  private int rows;
  private int[] tokens = new int[16];
  private int[] positions = new int[16];

  private int sequences;
  private KvCache[] caches = new KvCache[4];
  private int[] firstRows = new int[4];
  private int[] stepBegins = new int[4]; // -1 if a sequence's rows are its whole step
  private int[] stepEnds = new int[4];
  private boolean[] drafts = new boolean[4];
  private RuntimeException[] failures = new RuntimeException[4];

  private int logitRows;
  private int[] rowsWithLogits = new int[4];
  private boolean[] argmaxSuffices = new boolean[4];
  private int[] argmax = new int[4]; // -1 if there are logits instead
  private float[] logits = {};
  private int vocabulary;

  private int stateRows;
  private int[] stateOutputs = new int[4];
  private float[] hiddenStates = {};
  private int stateWidth;

  private int outputRows; // with logits or hidden states, in rising order
  private int[] rowsWithOutput = new int[4];
  private int[] logitOutputs = new int[4];

  public void clear() {
    Arrays.fill(caches, 0, sequences, null);
    Arrays.fill(failures, 0, sequences, null);
    rows = 0;
    sequences = 0;
    logitRows = 0;
    stateRows = 0;
    outputRows = 0;
  }

  /**
   * Adds the next token of a sequence and returns the index of its hidden state, from which logits
   * would be computed. Only engines in host memory have hidden states.
   */
  public int addForState(KvCache cache, int token) {
    add(cache, token, false);
    if (stateRows == stateOutputs.length) {
      stateOutputs = Arrays.copyOf(stateOutputs, 2 * stateRows);
    }
    stateOutputs[stateRows] = addOutput();
    return stateRows++;
  }

  /** Returns the number of rows with hidden states. */
  public int stateRows() {
    return stateRows;
  }

  /** Returns, after a step, the hidden states of all {@link #addForState}. */
  public float[] hiddenStates() {
    return hiddenStates;
  }

  /** Returns the offset of the hidden state of an index. */
  public int stateAt(int index) {
    return index * stateWidth;
  }

  public float[] allocateHiddenStates(int hidden) {
    stateWidth = hidden;
    int wanted = Math.multiplyExact(stateRows, hidden);
    if (hiddenStates.length < wanted) {
      hiddenStates = new float[wanted];
    }
    return hiddenStates;
  }

  /**
   * Starts a sequence with a chunk of a step: the rows added next belong to the step over the
   * positions from {@code stepBegin} to {@code stepEnd}. A step gives the same bits however it is
   * chunked. Blocks that have left the residual window are quantized at its end.
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
   * Starts a sequence with a draft: each of the rows added next computes like a step of its own,
   * and the engine leaves it to the caller to commit them one by one ({@link KvCache#commit}) and
   * to end the draft ({@link KvCache#endDraft}).
   */
  public void beginDraft(KvCache cache) {
    beginSequence(cache);
    drafts[sequences - 1] = true;
  }

  /**
   * Adds the next token of a sequence and returns the index of its logits; -1 if none are wanted.
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
      drafts = Arrays.copyOf(drafts, 2 * sequences);
      failures = Arrays.copyOf(failures, 2 * sequences);
    }
    caches[sequences] = cache;
    drafts[sequences] = false;
    stepBegins[sequences] = -1;
    firstRows[sequences] = rows;
    sequences++;
  }

  private int wantLogits() {
    if (logitRows == rowsWithLogits.length) {
      rowsWithLogits = Arrays.copyOf(rowsWithLogits, 2 * logitRows);
      argmaxSuffices = Arrays.copyOf(argmaxSuffices, 2 * logitRows);
      argmax = Arrays.copyOf(argmax, 2 * logitRows);
      logitOutputs = Arrays.copyOf(logitOutputs, 2 * logitRows);
    }
    rowsWithLogits[logitRows] = rows - 1;
    logitOutputs[logitRows] = addOutput();
    argmaxSuffices[logitRows] = false;
    argmax[logitRows] = -1;
    return logitRows++;
  }

  private int addOutput() {
    if (outputRows == rowsWithOutput.length) {
      rowsWithOutput = Arrays.copyOf(rowsWithOutput, 2 * outputRows);
    }
    rowsWithOutput[outputRows] = rows - 1;
    return outputRows++;
  }

  /** Returns the number of rows with logits or hidden states. */
  public int outputRows() {
    return outputRows;
  }

  public int rowWithOutput(int output) {
    return rowsWithOutput[output];
  }

  /** Returns which of the rows with outputs has the logits of an index. */
  public int outputOfLogits(int index) {
    return logitOutputs[index];
  }

  /** Returns which of the rows with outputs has the hidden state of an index. */
  public int outputOfState(int index) {
    return stateOutputs[index];
  }

  /**
   * Declares that only the argmax of the logits at an index is needed. A remote engine may then
   * return the token instead of the logits.
   */
  public void requestArgmaxOnly(int index) {
    argmaxSuffices[index] = true;
  }

  public boolean argmaxSuffices(int index) {
    return argmaxSuffices[index];
  }

  /** Sets the most likely token in place of logits. */
  public void setArgmax(int index, int token) {
    argmax[index] = token;
  }

  /** Returns the most likely token of an index; -1 if there are logits to find it in. */
  public int argmax(int index) {
    return argmax[index];
  }

  /**
   * Returns, after a step, one row of {@link #vocabulary()} logits for each {@link #add} that
   * wanted them.
   */
  public float[] logits() {
    return logits;
  }

  /** Returns the offset of the logits of an index. */
  public int logitsAt(int index) {
    return index * vocabulary;
  }

  public int vocabulary() {
    return vocabulary;
  }

  public int rows() {
    return rows;
  }

  /** Returns why a sequence was left out of the step or of what follows; empty if it succeeded. */
  public Optional<RuntimeException> failure(KvCache cache) {
    return Optional.ofNullable(failureOrNull(cache));
  }

  /** Returns the same, or null if it succeeded. */
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

  /** Pins the pages of all sequences for a step. */
  public void pin() {
    for (int i = 0; i < sequences; i++) {
      caches[i].pin();
    }
  }

  /** Undoes {@link #pin}. */
  public void unpin() {
    for (int i = 0; i < sequences; i++) {
      caches[i].unpin();
    }
  }

  /**
   * Quantizes the blocks that have left the residual windows of sequences whose steps have ended.
   */
  public void quantizeWindow() {
    for (int i = 0; i < sequences; i++) {
      if (!hasFailed(i) && endsStep(i) && !isDraft(i)) {
        try {
          caches[i].quantizeWindow();
        } catch (RuntimeException e) {
          fail(i, e);
        }
      }
    }
  }

  /** Records a failure of a sequence; thread-safe. One of several failures is retained. */
  public void fail(int sequence, RuntimeException why) {
    failures[sequence] = why;
  }

  public boolean hasFailed(int sequence) {
    return failures[sequence] != null;
  }

  /** Returns whether a sequence's rows are a draft. */
  public boolean isDraft(int sequence) {
    return drafts[sequence];
  }

  /**
   * Returns whether a sequence's rows are those of a prompt: a chunk, or more than one row. A
   * device may compute them by other kernels than the one row of a generated token.
   */
  public boolean isPrefill(int sequence) {
    return !isDraft(sequence)
        && (stepBegins[sequence] >= 0 || endRow(sequence) - firstRow(sequence) > 1);
  }

  /** Returns the first position of a sequence's step. */
  public int stepBegin(int sequence) {
    return stepBegins[sequence] < 0 ? positions[firstRow(sequence)] : stepBegins[sequence];
  }

  /** Returns the position after a sequence's step. */
  public int stepEnd(int sequence) {
    return stepBegins[sequence] < 0 ? positions[endRow(sequence) - 1] + 1 : stepEnds[sequence];
  }

  /** Returns whether these rows complete a sequence's step. */
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
