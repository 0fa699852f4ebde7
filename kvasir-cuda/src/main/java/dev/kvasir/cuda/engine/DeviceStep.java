package dev.kvasir.cuda.engine;

import dev.kvasir.cuda.formats.CacheResources;
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
  private final DeviceDecoder decoder;
  private final int vocabulary;
  private final List<CacheResources> distinct = new ArrayList<>(); // cache configurations
  private int[] logitsOf = {}; // index of a row's logits, -1 for none
  private int[] logitIndices = {}; // indices of the current part
  private int logitCount;
  private Batch batch;

  DeviceStep(DeviceDecoder decoder, int vocabulary) {
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
    batch.allocateLogits(vocabulary);
    Arrays.fill(logitsOf, 0, batch.rows(), -1);
    for (int index = 0; index < batch.logitRows(); index++) {
      logitsOf[batch.rowWithLogits(index)] = index;
    }
    for (int i = 0; i < batch.sequences(); i++) {
      if (!batch.hasFailed(i) && !distinct.contains(cache(i).resources())) {
        distinct.add(cache(i).resources());
      }
    }
  }

  private DeviceCache cache(int sequence) {
    return (DeviceCache) batch.cache(sequence);
  }

  /** Adds rows of generated tokens, then rows of prompts that attend one by one, then chunks. */
  private void run(CacheResources cacheResources) {
    begin(cacheResources);
    reserveForChunks(cacheResources);
    for (int i = 0; i < batch.sequences(); i++) {
      if (isOf(cacheResources, i) && !batch.isPrefill(i)) {
        addGenerated(cacheResources, i);
      }
    }
    for (int i = 0; i < batch.sequences(); i++) {
      if (isOf(cacheResources, i) && batch.isPrefill(i) && !isChunked(cacheResources, i)) {
        addRows(cacheResources, i);
      }
    }
    for (int i = 0; i < batch.sequences(); i++) {
      if (isOf(cacheResources, i) && isChunked(cacheResources, i)) {
        addChunks(cacheResources, i);
      }
    }
    finish();
  }

  private void reserveForChunks(CacheResources cacheResources) {
    for (int i = 0; cacheResources.dequantizesForPrefill() && i < batch.sequences(); i++) {
      if (isOf(cacheResources, i) && batch.isPrefill(i)) {
        decoder.reserveForChunk(cache(i).pages());
      }
    }
  }

  private boolean isOf(CacheResources cacheResources, int sequence) {
    return !batch.hasFailed(sequence) && cache(sequence).resources() == cacheResources;
  }

  private boolean isChunked(CacheResources cacheResources, int sequence) {
    return cacheResources.prefillAttention().isPresent()
        && batch.isPrefill(sequence)
        && decoder.canChunk(cache(sequence).pages());
  }

  private void begin(CacheResources cacheResources) {
    decoder.begin(cacheResources);
    logitCount = 0;
  }

  private void addGenerated(CacheResources cacheResources, int sequence) {
    SequencePages pages = cache(sequence).pages();
    int row = batch.firstRow(sequence);
    ensureCapacity(cacheResources, pages);
    decoder.addGenerated(pages, batch.token(row), batch.position(row), noteLogits(row));
  }

  private void addRows(CacheResources cacheResources, int sequence) {
    SequencePages pages = cache(sequence).pages();
    for (int row = batch.firstRow(sequence); row < batch.endRow(sequence); row++) {
      ensureCapacity(cacheResources, pages);
      decoder.add(pages, batch.token(row), batch.position(row), noteLogits(row));
    }
  }

  private void addChunks(CacheResources cacheResources, int sequence) {
    SequencePages pages = cache(sequence).pages();
    int end = batch.endRow(sequence);
    for (int first = batch.firstRow(sequence), count; first < end; first += count) {
      ensureCapacity(cacheResources, pages);
      if (!decoder.canChunkNow(pages)) {
        finish();
        begin(cacheResources);
      }
      count = fittingRows(first, end);
      decoder.beginChunk(pages, batch.position(first), count);
      for (int row = first; row < first + count; row++) {
        decoder.addRow(pages, batch.token(row), batch.position(row), noteLogits(row));
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

  private void ensureCapacity(CacheResources cacheResources, SequencePages pages) {
    if (!decoder.fits(pages.tableSize())) {
      finish();
      begin(cacheResources);
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
    decoder.upload();
    decoder.run();
    int[] likeliest = decoder.argmaxTokens();
    for (int i = 0; i < logitCount; i++) {
      report(i, logitIndices[i], likeliest[i]);
    }
  }

  /**
   * Reports a row's result. A row whose logits are NaN has no argmax; the sampler then rejects its
   * logits.
   */
  private void report(int row, int index, int likeliest) {
    if (batch.argmaxSuffices(index) && likeliest >= 0) {
      batch.setArgmax(index, likeliest);
    } else {
      decoder.logits(row, batch.logits(), batch.logitsAt(index));
    }
  }
}
