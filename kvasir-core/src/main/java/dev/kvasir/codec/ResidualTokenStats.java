package dev.kvasir.codec;

import dev.kvasir.memory.MemoryPool;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Token ids and attention mass of the tokens in a sequence's residual window, for every layer and
 * KV head. Attention observed during a step stays pending until {@link #commit}, so an aborted step
 * leaves no trace. Sums are saturating integers: the order and grouping of additions do not matter.
 *
 * <pre>
 * id, then for each layer and KV head: committed mass, pending mass   i32
 * bytes = 4 * capacity * (1 + 2 * layers * kvHeads)
 * </pre>
 *
 * The capacity is as requested, and larger only while it holds more tokens. Serialized:
 *
 * <pre>
 * u32  position of the first token
 * u32  tokens
 * i32  ids (tokens)
 * i32  attention mass (layers, kvHeads, tokens)
 * </pre>
 */
public final class ResidualTokenStats implements AutoCloseable {
  private static final int HEADER_BYTES = 2 * Integer.BYTES;
  private static final int IDS = 0;
  private static final int NO_QUERY = -1;

  private final int kvHeads;
  private final TokenRingBuffer numbers;
  private final int[] lastQuery; // position of the last pending query, by layer and KV head
  private final int[] firstObserved; // first position with pending mass, by layer and KV head
  private int length; // committed positions

  /**
   * Creates empty statistics.
   *
   * @param tokens the base capacity. If tokens arrive one at a time, the residual tokens are at
   *     most sinks, window and the blocks quantized together. With the tokens of a prefill step
   *     added, the buffer grows only while quantization is deferred.
   * @param pool provides the memory
   */
  public ResidualTokenStats(int layers, int kvHeads, int tokens, MemoryPool pool) {
    this(
        kvHeads,
        new TokenRingBuffer(rows(layers, kvHeads), tokens, pool),
        new int[layers * kvHeads],
        new int[layers * kvHeads]);
    Arrays.fill(lastQuery, NO_QUERY);
  }

  private ResidualTokenStats(
      int kvHeads, TokenRingBuffer numbers, int[] lastQuery, int[] firstObserved) {
    this.kvHeads = kvHeads;
    this.numbers = numbers;
    this.lastQuery = lastQuery;
    this.firstObserved = firstObserved;
  }

  private static int rows(int layers, int kvHeads) {
    return 1 + 2 * layers * kvHeads;
  }

  private static int attentionMass(int head) {
    return 1 + 2 * head;
  }

  private static int pending(int head) {
    return 2 + 2 * head;
  }

  public static long bytesFor(int layers, int kvHeads, int tokens) {
    return TokenRingBuffer.bytesFor(rows(layers, kvHeads), tokens);
  }

  /** Returns the allocated bytes, shared with a fork until one of the two writes. */
  public synchronized long bytes() {
    return numbers.bytes();
  }

  public synchronized void observeToken(int position, int token) {
    numbers.extendTo(position, position + 1);
    numbers.set(IDS, position, token);
  }

  /**
   * Adds the attention of the query at position {@code from + count - 1} to the tokens up to its
   * own. Queries of a layer and KV head arrive in order. A query that does not follow the last one
   * implies that the previous step was aborted.
   *
   * @param weights (count), 0 or more
   */
  public synchronized void observeAttention(
      int layer, int kvHead, int from, int[] weights, int count) {
    int head = layer * kvHeads + kvHead;
    int query = from + count - 1;
    numbers.extendTo(from, query + 1);
    if (query <= lastQuery[head]) {
      resolvePending(head, false);
    }
    int row = pending(head);
    for (int i = 0; i < count; i++) {
      numbers.set(row, from + i, sum(numbers.get(row, from + i), weights[i]));
    }
    firstObserved[head] = lastQuery[head] == NO_QUERY ? from : Math.min(firstObserved[head], from);
    lastQuery[head] = query;
  }

  /** Commits pending attention, and all positions before {@code committed}. */
  public synchronized void commit(int committed) {
    length = committed;
    for (int head = 0; head < lastQuery.length; head++) {
      if (lastQuery[head] != NO_QUERY) {
        resolvePending(head, lastQuery[head] < committed);
      }
    }
  }

  /** Adds a head's pending mass to its sums, or drops it. */
  private void resolvePending(int head, boolean commits) {
    int from = Math.max(numbers.begin(), firstObserved[head]);
    int to = Math.min(numbers.end(), lastQuery[head] + 1);
    if (from < to) {
      numbers.extendTo(from, to);
    }
    int sums = attentionMass(head);
    int row = pending(head);
    for (int position = from; position < to; position++) {
      if (commits) {
        numbers.set(sums, position, sum(numbers.get(sums, position), numbers.get(row, position)));
      }
      numbers.set(row, position, 0);
    }
    lastQuery[head] = NO_QUERY;
  }

  private static int sum(int a, int b) {
    int sum = a + b;
    return sum < 0 ? Integer.MAX_VALUE : sum;
  }

  /** Returns the id of a token; 0 if it was not observed. */
  public synchronized int tokenId(int position) {
    return numbers.get(IDS, position);
  }

  /**
   * Reads the committed attention mass of tokens; 0 if none was observed.
   *
   * @param position of the first token
   * @param out (count), set
   */
  public synchronized void attentionMass(
      int layer, int kvHead, int position, int count, int[] out) {
    int row = attentionMass(layer * kvHeads + kvHead);
    for (int i = 0; i < count; i++) {
      out[i] = numbers.get(row, position + i);
    }
  }

  /** Drops tokens before a position, which every layer has quantized. */
  public synchronized void dropBefore(int position) {
    numbers.dropBefore(position);
  }

  /** Drops later tokens. The attention they gave to earlier tokens remains. */
  public synchronized void truncate(int wanted) {
    length = Math.min(length, wanted);
    numbers.truncate(wanted);
  }

  public synchronized ResidualTokenStats fork() {
    ResidualTokenStats fork =
        new ResidualTokenStats(kvHeads, numbers.fork(), lastQuery.clone(), firstObserved.clone());
    fork.length = length;
    return fork;
  }

  @Override
  public void close() {
    numbers.close();
  }

  /** Returns the number of committed tokens in the buffer. */
  private int committedTokens() {
    return Math.max(0, Math.min(numbers.end(), length) - numbers.begin());
  }

  public synchronized long serializedBytes() {
    return HEADER_BYTES + serializedBytes(committedTokens());
  }

  private long serializedBytes(int tokens) {
    return (long) Integer.BYTES * tokens * (1 + lastQuery.length);
  }

  /** Writes the committed state. Anything pending between steps belongs to an aborted step. */
  public synchronized void write(ByteBuffer out) {
    int tokens = committedTokens();
    out.putInt(numbers.begin()).putInt(tokens);
    writeRow(out, IDS, tokens);
    for (int head = 0; head < lastQuery.length; head++) {
      writeRow(out, attentionMass(head), tokens);
    }
  }

  private void writeRow(ByteBuffer out, int row, int tokens) {
    for (int i = 0; i < tokens; i++) {
      out.putInt(numbers.get(row, numbers.begin() + i));
    }
  }

  /**
   * Reads the state written by {@link #write}.
   *
   * @param tokens the base capacity
   * @throws dev.kvasir.error.InvalidInputException if the bytes are invalid
   */
  public static ResidualTokenStats read(
      int layers, int kvHeads, int tokens, MemoryPool pool, ByteBuffer in) {
    ResidualTokenStats read = new ResidualTokenStats(layers, kvHeads, tokens, pool);
    try {
      read.read(in);
      return read;
    } catch (RuntimeException | Error e) {
      read.close();
      throw e;
    }
  }

  private synchronized void read(ByteBuffer in) {
    int first = SnapshotHeader.STATE.readPosition(in);
    int tokens = in.getInt();
    if (tokens < 0
        || tokens > Integer.MAX_VALUE - first
        || in.remaining() < serializedBytes(tokens)) {
      throw SnapshotHeader.STATE.invalid(
          "has %d tokens from position %d on in %d bytes".formatted(tokens, first, in.remaining()));
    }
    numbers.extendTo(first, first + tokens);
    length = first + tokens;
    readRow(in, IDS, tokens, "a token");
    for (int head = 0; head < lastQuery.length; head++) {
      readRow(in, attentionMass(head), tokens, "received attention");
    }
  }

  private void readRow(ByteBuffer in, int row, int tokens, String what) {
    for (int i = 0; i < tokens; i++) {
      int number = in.getInt();
      if (number < 0) {
        throw SnapshotHeader.STATE.invalid(
            "has %s of %d; expected 0 or more".formatted(what, number));
      }
      numbers.set(row, numbers.begin() + i, number);
    }
  }
}
