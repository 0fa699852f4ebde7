package dev.kvasir.codec.mixkvq;

import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.memory.MemoryPool;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The mean |q| for each key channel of a layer, over tokens and the query heads that share a KV
 * head.
 *
 * <p>Queries of a step arrive from several threads in any order, which must not affect the tiers.
 * So each |q| is rounded to a multiple of 2^-20. A double adds 2^33 of them exactly, hence every
 * order gives the same sum. Serialized:
 *
 * <pre>
 * u32  number of queries of each KV head
 * u32  position of the first of them, 2^31 - 1 without any
 * u8   1 if the next query may start a new window, else 0
 * f64  sums (kvHeads, keyDim)
 * </pre>
 */
final class QueryMagnitudes {
  /** Adding and subtracting this rounds to a multiple of 2^-20. */
  private static final double ROUNDING = 0x1p32;

  private final int kvHeads;
  private final int keyDim;
  private final QuerySpan span;
  private final ChannelSums sums;
  private int count; // of queries of each KV head
  private int firstPosition = Integer.MAX_VALUE;
  private boolean used; // by a quantized block: the next query may start a new window

  QueryMagnitudes(int kvHeads, int keyDim, QuerySpan span, MemoryPool pool) {
    this(kvHeads, keyDim, span, new ChannelSums(kvHeads * keyDim, pool));
  }

  private QueryMagnitudes(int kvHeads, int keyDim, QuerySpan span, ChannelSums sums) {
    this.kvHeads = kvHeads;
    this.keyDim = keyDim;
    this.span = span;
    this.sums = sums;
  }

  synchronized QueryMagnitudes fork() {
    QueryMagnitudes fork = new QueryMagnitudes(kvHeads, keyDim, span, sums.fork());
    fork.count = count;
    fork.firstPosition = firstPosition;
    fork.used = used;
    return fork;
  }

  /**
   * Adds the queries of a token.
   *
   * @param queries (kvHeads, query heads per KV head, keyDim) from {@code at} on
   */
  synchronized void add(int position, float[] queries, int at, int queriesPerKvHead) {
    sums.makeWritable();
    if (used && span == QuerySpan.WINDOW) {
      clear();
    }
    used = false;
    for (int head = 0; head < kvHeads; head++) {
      int from = at + head * queriesPerKvHead * keyDim;
      for (int i = 0; i < keyDim; i++) {
        sums.add(head * keyDim + i, magnitude(queries, from + i, queriesPerKvHead));
      }
    }
    count += queriesPerKvHead;
    firstPosition = Math.min(firstPosition, position);
  }

  /** Returns a channel's sum over the query heads that share its key. */
  private double magnitude(float[] queries, int at, int queriesPerKvHead) {
    double sum = 0;
    for (int shared = 0; shared < queriesPerKvHead; shared++) {
      sum += Math.abs((double) queries[at + shared * keyDim]) + ROUNDING - ROUNDING;
    }
    return sum;
  }

  static int serializedBytes(int channels) {
    return 2 * Integer.BYTES + 1 + Double.BYTES * channels;
  }

  synchronized void write(ByteBuffer out) {
    out.putInt(count).putInt(firstPosition).put((byte) (used ? 1 : 0));
    for (int i = 0; i < kvHeads * keyDim; i++) {
      out.putDouble(sums.get(i));
    }
  }

  /** Continues from the state written by {@link #write}; this object must be empty. */
  synchronized void read(ByteBuffer in) {
    count = in.getInt();
    firstPosition = SnapshotHeader.STATE.readPosition(in);
    int mark = in.get();
    used = mark == 1;
    double[] stored = new double[kvHeads * keyDim];
    for (int i = 0; i < stored.length; i++) {
      stored[i] = in.getDouble();
    }
    boolean whole = count >= 0 && mark >= 0 && mark <= 1;
    if (!whole || !Arrays.stream(stored).allMatch(sum -> sum >= 0 && Double.isFinite(sum))) {
      throw SnapshotHeader.STATE.invalid("counts queries by numbers that no count leads to");
    }
    for (int i = 0; i < stored.length; i++) {
      sums.add(i, stored[i]);
    }
  }

  /** Marks the sums as used by a quantized block. Later queries belong to the next window. */
  synchronized void markUsed() {
    used = true;
  }

  /**
   * Multiplies by the mean magnitude of each channel; by zero without any query.
   *
   * @param x (kvHeads, keyDim)
   */
  synchronized void multiplyByMean(float[] x) {
    for (int i = 0; i < kvHeads * keyDim; i++) {
      x[i] *= count == 0 ? 0 : (float) (sums.get(i) / count);
    }
  }

  /** Clears the sums once all of their tokens are gone. Single tokens cannot be subtracted. */
  synchronized void truncate(int length) {
    if (count > 0 && length <= firstPosition) {
      sums.makeWritable();
      clear();
    }
  }

  private void clear() {
    sums.clear();
    count = 0;
    firstPosition = Integer.MAX_VALUE;
    used = false;
  }

  void close() {
    sums.release();
  }
}
