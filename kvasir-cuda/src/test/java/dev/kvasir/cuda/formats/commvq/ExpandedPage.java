package dev.kvasir.cuda.formats.commvq;

import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.kvasir.codec.commvq.CompactLayerCodebooks;
import dev.kvasir.codec.commvq.ModelCodebooks;
import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.Int8Codebooks;
import java.lang.foreign.MemorySegment;

/**
 * Dequantizes pages of the first layer as the host does.
 *
 * @param pages the pages of all KV heads
 */
record ExpandedPage(ModelCodebooks books, int dim, CodebookPage layout, MemorySegment pages) {
  private static final int TOKENS = CodebookPage.TOKENS;

  private MemorySegment page(int head) {
    return pages.asSlice((long) head * layout.bytes(), layout.bytes());
  }

  /** Writes rotated keys and values of a head from token {@code at} on. */
  void expand(int head, float[] key, float[] value, int at) {
    for (int token = 0; token < TOKENS; token++) {
      expandKey(head, token, key, (at + token) * dim);
      expandValue(head, token, value, (at + token) * dim);
    }
  }

  private void expandKey(int head, int token, float[] key, int to) {
    MemorySegment page = page(head);
    Int8Codebooks keys = compact().keys().get(head);
    int pairs = keys.pairs();
    float[] row = new float[2 * pairs];
    float[] sum = new float[2 * pairs];
    for (int set = 0; set < layout.sets(); set++) {
      keys.dequantize(64 * set + layout.keyIndex(page, token, set), row);
      for (int i = 0; i < row.length; i++) {
        sum[i] += row[i];
      }
    }
    int[] order = books.rotation().pairOrder(dim);
    float[] mean = keys.mean();
    float scale = layout.keyScale(page, token);
    for (int pair = 0; pair < dim / 2; pair++) {
      key[to + order[pair]] = mean[pair] + scale * sum[pair];
      key[to + order[dim / 2 + pair]] = mean[pairs + pair] + scale * sum[pairs + pair];
    }
    books.rotation().rotate(key, to, dim, 1, layout.position(page) + token);
  }

  private void expandValue(int head, int token, float[] value, int to) {
    if (!books.encoders().isEmpty()) {
      expandBits(head, token, value, to);
      return;
    }
    int heads = books.layers().getFirst().valueHeads();
    DenseMatrix rows = compact().values().get(head);
    double[] sum = new double[dim];
    for (int set = 0; set < heads * layout.sets(); set++) {
      MemorySegment page = page(head / heads * heads + set / layout.sets());
      long from =
          (64L * set + layout.valueIndex(page, token, set % layout.sets())) * dim * Short.BYTES;
      addRow(rows, from, sum);
    }
    float[] mean = compact().valueMeans().get(head);
    for (int c = 0; c < dim; c++) {
      value[to + c] = mean[c] + (float) (layout.valueScale(page(head), token) * sum[c]);
    }
  }

  private void expandBits(int head, int token, float[] value, int to) {
    DenseMatrix rows = compact().values().get(head);
    int ofHead = rows.rows() / books.layers().getFirst().kvHeads();
    double[] sum = new double[dim];
    for (int bit = 0; bit < rows.rows(); bit++) {
      if (layout.isSet(page(bit / ofHead), token, bit % ofHead)) {
        addRow(rows, (long) bit * dim * Short.BYTES, sum);
      }
    }
    for (int c = 0; c < dim; c++) {
      value[to + c] = (float) (layout.valueScale(page(head), token) * sum[c]);
    }
  }

  private void addRow(DenseMatrix rows, long from, double[] sum) {
    for (int c = 0; c < dim; c++) {
      short half = rows.data().get(JAVA_SHORT_UNALIGNED, from + (long) Short.BYTES * c);
      sum[c] += Float.float16ToFloat(half);
    }
  }

  private CompactLayerCodebooks compact() {
    return books.rows().getFirst();
  }
}
