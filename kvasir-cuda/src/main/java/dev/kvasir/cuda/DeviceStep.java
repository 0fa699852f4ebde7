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

  private void run(KindPages kind) {
    begin(kind);
    for (int i = 0; i < batch.sequences(); i++) {
      if (!batch.hasFailed(i) && cache(i).home() == kind) {
        addRows(kind, i);
      }
    }
    finish();
  }

  private void begin(KindPages kind) {
    decoder.begin(kind);
    wantedCount = 0;
  }

  private void addRows(KindPages kind, int sequence) {
    SequencePages pages = cache(sequence).pages();
    for (int row = batch.firstRow(sequence); row < batch.endRow(sequence); row++) {
      if (!decoder.hasRoom(pages.packedPages() + pages.halfPages())) {
        finish();
        begin(kind);
      }
      boolean hasLogits = logitsOf[row] >= 0;
      if (hasLogits) {
        wanted[wantedCount++] = logitsOf[row];
      }
      decoder.add(pages, batch.token(row), batch.position(row), hasLogits);
    }
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
