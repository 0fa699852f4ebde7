package dev.kvasir.cuda.engine;

import dev.kvasir.engine.Batch;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Steps of batches on a device, one at a time. A step runs in several parts if sequences have
 * different cache configurations or rows do not fit. Rows of a sequence stay in order, so later
 * parts see earlier ones.
 */
final class DeviceStep {
  private final DecoderChain decoder;
  private final int vocabulary;
  private final List<DeviceSequence> distinct = new ArrayList<>(); // by cache configuration
  private int[] logitsOf = {}; // index of a row's logits, -1 for none
  private int[] logitIndices = {}; // indices of the current part
  private int logitCount;
  private Batch batch;

  DeviceStep(DecoderChain decoder, int vocabulary) {
    this.decoder = decoder;
    this.vocabulary = vocabulary;
  }

  void run(Batch rows) {
    batch = rows;
    try {
      begin();
      for (int i = 0; i < distinct.size(); i++) {
        run(distinct.get(i));
      }
    } finally {
      batch = null;
      distinct.clear();
    }
  }

  private void begin() {
    if (logitsOf.length < batch.rows()) {
      logitsOf = new int[2 * batch.rows()];
      logitIndices = new int[2 * batch.rows()];
    }
    Arrays.fill(logitsOf, 0, batch.rows(), -1);
    for (int index = 0; index < batch.logitRows(); index++) {
      logitsOf[batch.rowWithLogits(index)] = index;
    }
    for (int i = 0; i < batch.sequences(); i++) {
      if (!batch.hasFailed(i) && !isKnown(sequence(i))) {
        distinct.add(sequence(i));
      }
    }
  }

  private boolean isKnown(DeviceSequence sequence) {
    for (int i = 0; i < distinct.size(); i++) {
      if (decoder.areAlike(distinct.get(i), sequence)) {
        return true;
      }
    }
    return false;
  }

  private DeviceSequence sequence(int index) {
    return (DeviceSequence) batch.cache(index);
  }

  /**
   * Adds rows of generated tokens, then rows of prompts that attend one by one, then chunks.
   *
   * @param like a sequence with the cache configuration of the part
   */
  private void run(DeviceSequence like) {
    begin(like);
    reserveForChunks(like);
    for (int i = 0; i < batch.sequences(); i++) {
      if (isLike(like, i) && !batch.isPrefill(i)) {
        addGenerated(like, i);
      }
    }
    for (int i = 0; i < batch.sequences(); i++) {
      if (isLike(like, i) && batch.isPrefill(i) && !isChunked(i)) {
        addRows(like, i);
      }
    }
    for (int i = 0; i < batch.sequences(); i++) {
      if (isLike(like, i) && isChunked(i)) {
        addChunks(like, i);
      }
    }
    finish();
  }

  private void reserveForChunks(DeviceSequence like) {
    for (int i = 0; decoder.dequantizesForPrefill(like) && i < batch.sequences(); i++) {
      if (isLike(like, i) && batch.isPrefill(i)) {
        decoder.reserveForChunk(sequence(i));
      }
    }
  }

  private boolean isLike(DeviceSequence like, int index) {
    return !batch.hasFailed(index) && decoder.areAlike(like, sequence(index));
  }

  private boolean isChunked(int index) {
    return batch.isPrefill(index) && decoder.canChunk(sequence(index));
  }

  private void begin(DeviceSequence like) {
    decoder.begin(like);
    logitCount = 0;
  }

  private void addGenerated(DeviceSequence like, int index) {
    int row = batch.firstRow(index);
    ensureCapacity(like, sequence(index));
    decoder.addGenerated(sequence(index), batch.token(row), batch.position(row), noteLogits(row));
  }

  private void addRows(DeviceSequence like, int index) {
    for (int row = batch.firstRow(index); row < batch.endRow(index); row++) {
      ensureCapacity(like, sequence(index));
      decoder.add(sequence(index), batch.token(row), batch.position(row), noteLogits(row));
    }
  }

  private void addChunks(DeviceSequence like, int index) {
    DeviceSequence sequence = sequence(index);
    int end = batch.endRow(index);
    for (int first = batch.firstRow(index), count; first < end; first += count) {
      ensureCapacity(like, sequence);
      if (!decoder.canChunkNow(sequence)) {
        finish();
        begin(like);
      }
      count = fittingRows(first, end);
      decoder.beginChunk(sequence, batch.position(first), count);
      for (int row = first; row < first + count; row++) {
        decoder.addRow(sequence, batch.token(row), batch.position(row), noteLogits(row));
      }
    }
  }

  /** Returns how many rows of a chunk fit, with the logits that are wanted of them. */
  private int fittingRows(int first, int end) {
    int logitRows = decoder.logitRowsLeft();
    int row = first;
    while (row < Math.min(end, first + decoder.rowsLeft())) {
      if (logitsOf[row] >= 0 && logitRows-- == 0) {
        break;
      }
      row++;
    }
    return row - first;
  }

  private void ensureCapacity(DeviceSequence like, DeviceSequence sequence) {
    if (!decoder.fits(sequence)) {
      finish();
      begin(like);
    }
  }

  /** Returns whether a row's logits are wanted and records their index. */
  private boolean noteLogits(int row) {
    boolean hasLogits = logitsOf[row] >= 0;
    if (hasLogits) {
      logitIndices[logitCount++] = logitsOf[row];
    }
    return hasLogits;
  }

  private void finish() {
    if (decoder.rows() == 0) {
      return;
    }
    decoder.run();
    int[] likeliest = decoder.argmaxTokens();
    for (int i = 0; i < logitCount; i++) {
      report(i, logitIndices[i], likeliest[i]);
    }
  }

  /**
   * Reports a row's result. A row whose logits are NaN has no argmax; the sampler then rejects its
   * logits. Memory for logits is allocated with the first row that needs them: those of 256 rows
   * take 128 MiB with a large vocabulary.
   */
  private void report(int row, int index, int likeliest) {
    if (batch.argmaxSuffices(index) && likeliest >= 0) {
      batch.setArgmax(index, likeliest);
    } else {
      decoder.logits(row, batch.allocateLogits(vocabulary), batch.logitsAt(index));
    }
  }
}
