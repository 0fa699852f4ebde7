package dev.kvasir.cuda;

import dev.kvasir.engine.Batch;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * One step of a batch on a device: in as many parts as there are kinds of pages, and as rows need.
 * Rows of a sequence stay in their order, so those of a later part find the earlier ones.
 */
final class DeviceStep {
  private final DeviceDecoder decoder;
  private final Batch batch;
  private final int[] logitsOf; // index of a row's logits, -1 for none
  private final int[] wanted; // indices of the part at hand
  private int wantedCount;

  DeviceStep(DeviceDecoder decoder, Batch batch, int vocabulary) {
    this.decoder = decoder;
    this.batch = batch;
    this.logitsOf = new int[batch.rows()];
    this.wanted = new int[batch.logitRows()];
    batch.roomForLogits(vocabulary);
    Arrays.fill(logitsOf, -1);
    for (int index = 0; index < batch.logitRows(); index++) {
      logitsOf[batch.rowWithLogits(index)] = index;
    }
  }

  void run() {
    Set<KindPages> kinds = new LinkedHashSet<>();
    for (int i = 0; i < batch.sequences(); i++) {
      if (!batch.hasFailed(i)) {
        kinds.add(cache(i).home());
      }
    }
    kinds.forEach(this::run);
  }

  private DeviceCache cache(int sequence) {
    return (DeviceCache) batch.cache(sequence);
  }

  /** Rows that are attended to one by one come before runs. */
  private void run(KindPages kind) {
    begin(kind);
    expectRuns(kind);
    for (int i = 0; i < batch.sequences(); i++) {
      if (isOf(kind, i) && !isRun(kind, i)) {
        addRows(kind, i);
      }
    }
    for (int i = 0; i < batch.sequences(); i++) {
      if (isOf(kind, i) && isRun(kind, i)) {
        addRuns(kind, i);
      }
    }
    finish();
  }

  private void expectRuns(KindPages kind) {
    for (int i = 0; kind.expandsPrompts() && i < batch.sequences(); i++) {
      if (isOf(kind, i) && hasRowsOfARun(i)) {
        decoder.expectRun(cache(i).pages());
      }
    }
  }

  private boolean isOf(KindPages kind, int sequence) {
    return !batch.hasFailed(sequence) && cache(sequence).home() == kind;
  }

  private boolean isRun(KindPages kind, int sequence) {
    return kind.prompts().isPresent()
        && hasRowsOfARun(sequence)
        && decoder.canRun(cache(sequence).pages());
  }

  private boolean hasRowsOfARun(int sequence) {
    return batch.endRow(sequence) - batch.firstRow(sequence) >= PromptAttention.LEAST_ROWS;
  }

  private void begin(KindPages kind) {
    decoder.begin(kind);
    wantedCount = 0;
  }

  private void addRows(KindPages kind, int sequence) {
    SequencePages pages = cache(sequence).pages();
    for (int row = batch.firstRow(sequence); row < batch.endRow(sequence); row++) {
      makeRoom(kind, pages);
      decoder.add(pages, batch.token(row), batch.position(row), notes(row));
    }
  }

  private void addRuns(KindPages kind, int sequence) {
    SequencePages pages = cache(sequence).pages();
    int end = batch.endRow(sequence);
    for (int first = batch.firstRow(sequence), count; first < end; first += count) {
      makeRoom(kind, pages);
      if (!decoder.canRunHere(pages)) {
        finish();
        begin(kind);
      }
      count = Math.min(end - first, decoder.rowsLeft());
      decoder.beginRun(pages, batch.position(first), count);
      for (int row = first; row < first + count; row++) {
        decoder.addRow(pages, batch.token(row), batch.position(row), notes(row));
      }
    }
  }

  private void makeRoom(KindPages kind, SequencePages pages) {
    if (!decoder.hasRoom(pages.pages() + pages.tablePages())) {
      finish();
      begin(kind);
    }
  }

  /** Whether a row's logits are wanted; notes where they go. */
  private boolean notes(int row) {
    boolean hasLogits = logitsOf[row] >= 0;
    if (hasLogits) {
      wanted[wantedCount++] = logitsOf[row];
    }
    return hasLogits;
  }

  private void finish() {
    if (decoder.rows() == 0) {
      return;
    }
    decoder.run();
    int[] likeliest = decoder.likeliest();
    for (int i = 0; i < wantedCount; i++) {
      tell(i, wanted[i], likeliest[i]);
    }
  }

  /** A row whose logits are no numbers has no likeliest token; whoever picks one will say so. */
  private void tell(int place, int index, int likeliest) {
    if (batch.likeliestSuffices(index) && likeliest >= 0) {
      batch.tellLikeliest(index, likeliest);
    } else {
      decoder.logits(place, batch.logits(), batch.logitsAt(index));
    }
  }
}
