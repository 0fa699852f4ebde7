package dev.kvasir.codec.mixkvq;

import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.memory.MemoryPool;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * How large the queries of one layer are, channel by channel of the keys that they meet: the mean
 * of |q| over tokens and over the query heads that share a KV head.
 *
 * <p>A step's queries come from several threads in any order, and tiers must not depend on it. So
 * each |q| is rounded to a multiple of 2^-20, of which a double adds up 2^33 without rounding:
 * every order gives the same sum. Stored:
 *
 * <pre>
 * u32  queries that each KV head has met
 * u32  position of the first of them, 2^31 - 1 without any
 * u8   1 if the next query may begin anew, else 0
 * f64  sums (kvHeads, keyDim)
 * </pre>
 */
final class QueryMagnitudes {
  /** A sum with this has 2^-20 as its last digit. */
  private static final double ROUNDING = 0x1p32;

  private final int kvHeads;
  private final int keyDim;
  private final QuerySpan span;
  private final ChannelSums sums;
  private int count; // of queries that each KV head has met
  private int firstPosition = Integer.MAX_VALUE;
  private boolean used; // by what was sealed: the next query may begin anew

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
   * @param queries (kvHeads, heads that share it, keyDim) from {@code at} on
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

  /** A channel's, over the heads that share its key. */
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

  /** Counts on from what {@link #generate} wrote; a tally that has counted nothing. */
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

  /** A block is sealed by what was seen; the queries after it are the next window's. */
  synchronized void markUsed() {
    used = true;
  }

  /**
   * Multiplies by how much each channel is looked at; by zero as long as no query has come.
   *
   * @param x (kvHeads, keyDim)
   */
  synchronized void multiplyByMean(float[] x) {
    for (int i = 0; i < kvHeads * keyDim; i++) {
      x[i] *= count == 0 ? 0 : (float) (sums.get(i) / count);
    }
  }

  /** Sums cannot be taken apart: they go once all of their tokens have gone. */
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
