package dev.kvasir.cuda.formats;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PackedPageReader;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.IntStream;

/** Attention in double precision over the stored numbers: fp16, and dequantized packed pages. */
public final class ReferenceAttention {
  private final DeviceBatch batch;
  private final AttentionShape shape;
  private final Bounds bounds;

  /**
   * What limits attention.
   *
   * @param window positions that a query attends to, its own included
   * @param cap soft cap of scores; 0 for none
   */
  record Bounds(int window, double cap) {
    static final Bounds NONE = new Bounds(Integer.MAX_VALUE, 0);

    /** Returns the first position that the last of some tokens attends to. */
    int first(int count) {
      return Math.max(0, count - window);
    }

    double score(double x) {
      return cap == 0 ? x : cap * Math.tanh(x / cap);
    }
  }

  ReferenceAttention(DeviceBatch batch) {
    this(batch, Bounds.NONE);
  }

  ReferenceAttention(DeviceBatch batch, Bounds bounds) {
    this.batch = batch;
    this.shape = batch.shape();
    this.bounds = bounds;
  }

  /**
   * @param queries halves // (sequences, queryHeads, headDim)
   */
  double[] outputs(short[] queries) {
    double[] out = new double[queries.length];
    for (int s = 0; s < batch.sequences().size(); s++) {
      int sequence = s;
      List<MemorySegment> pages = batch.packedPages(s);
      IntStream.range(0, shape.kvHeads())
          .parallel()
          .forEach(kvHead -> attend(sequence, kvHead, pages, queries, out));
    }
    return out;
  }

  /**
   * Returns the outputs of the last tokens of the first sequence, each of which attends up to
   * itself.
   *
   * @param queries halves // (rows, queryHeads, headDim)
   */
  double[] outputsOfLast(int rows, short[] queries) {
    double[] out = new double[queries.length];
    int dim = shape.headDim();
    int count = batch.sequences().getFirst().count();
    List<MemorySegment> pages = batch.packedPages(0);
    IntStream.range(0, shape.kvHeads())
        .parallel()
        .forEach(
            kvHead -> {
              float[] keys = new float[count * dim];
              float[] values = new float[count * dim];
              dequantize(0, kvHead, pages, keys, values);
              for (int row = 0; row < rows; row++) {
                for (int h = 0; h < shape.queriesPerKvHead(); h++) {
                  int head = kvHead * shape.queriesPerKvHead() + h;
                  int at = (row * shape.queryHeads() + head) * dim;
                  attend(dim, queries, at, keys, values, count - rows + row + 1, bounds, out);
                }
              }
            });
    return out;
  }

  private void attend(
      int sequence, int kvHead, List<MemorySegment> pages, short[] queries, double[] out) {
    int dim = shape.headDim();
    int count = batch.sequences().get(sequence).count();
    float[] keys = new float[count * dim];
    float[] values = new float[count * dim];
    dequantize(sequence, kvHead, pages, keys, values);
    for (int h = 0; h < shape.queriesPerKvHead(); h++) {
      int head = kvHead * shape.queriesPerKvHead() + h;
      int at = (sequence * shape.queryHeads() + head) * dim;
      attend(dim, queries, at, keys, values, count, bounds, out);
    }
  }

  /**
   * Computes the output of one head.
   *
   * @param at offset of its query and its output
   * @param keys (count, dim)
   */
  public static void attend(
      int dim, short[] queries, int at, float[] keys, float[] values, int count, double[] out) {
    attend(dim, queries, at, keys, values, count, Bounds.NONE, out);
  }

  private static void attend(
      int dim,
      short[] queries,
      int at,
      float[] keys,
      float[] values,
      int count,
      Bounds bounds,
      double[] out) {
    double[] scores = new double[count];
    double most = Double.NEGATIVE_INFINITY;
    for (int t = bounds.first(count); t < count; t++) {
      double sum = 0;
      for (int c = 0; c < dim; c++) {
        sum += (double) Float.float16ToFloat(queries[at + c]) * keys[t * dim + c];
      }
      scores[t] = bounds.score(sum / Math.sqrt(dim));
      most = Math.max(most, scores[t]);
    }
    double all = 0;
    for (int t = bounds.first(count); t < count; t++) {
      double weight = Math.exp(scores[t] - most);
      all += weight;
      for (int c = 0; c < dim; c++) {
        out[at + c] += weight * values[t * dim + c];
      }
    }
    for (int c = 0; c < dim; c++) {
      out[at + c] /= all;
    }
  }

  private void dequantize(
      int sequence, int kvHead, List<MemorySegment> pages, float[] keys, float[] values) {
    int dim = shape.headDim();
    DeviceBatch.Tokens tokens = batch.sequences().get(sequence);
    short[][] rows = batch.rows.get(sequence);
    for (int t = 0; t < tokens.count(); t++) {
      int packed = t - tokens.sinks();
      boolean isPacked = packed >= 0 && packed < tokens.packed();
      for (int c = 0; c < dim; c++) {
        int from = (t * shape.kvHeads() + kvHead) * dim + c;
        keys[t * dim + c] = Float.float16ToFloat(rows[0][from]);
        values[t * dim + c] = Float.float16ToFloat(rows[1][from]);
      }
      if (isPacked) {
        dequantize(pages, packed, kvHead, keys, values, t * dim);
      }
    }
  }

  private void dequantize(
      List<MemorySegment> pages, int token, int kvHead, float[] keys, float[] values, int at) {
    PackedPageReader layout = batch.reader();
    MemorySegment page =
        pages.get(token / Fp16Page.TOKENS).asSlice((long) kvHead * layout.bytes(), layout.bytes());
    for (int c = 0; c < shape.headDim(); c++) {
      keys[at + c] = layout.key(page, token % Fp16Page.TOKENS, c, 1);
      values[at + c] = layout.value(page, token % Fp16Page.TOKENS, c, 1);
    }
  }
}
