package dev.kvasir.codec;

import dev.kvasir.memory.MemoryPool;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * What is known of the tokens of a sequence that are not packed: their ids, and how much attention
 * they have received in every layer and KV head. What a step gives is kept apart until {@link
 * #count}, so that a step which is broken off leaves nothing. Sums are integers, and stay at the
 * largest where they would exceed it: any grouping and order leads to the same.
 *
 * <pre>
 * id, then for each layer and KV head: received, pending   i32
 * bytes = 4 * places * (1 + 2 * layers * kvHeads)
 * </pre>
 *
 * Places are as many as were asked for, and more only while more tokens than that are held. Stored:
 *
 * <pre>
 * u32  position of the first token
 * u32  tokens
 * i32  ids (tokens)
 * i32  received (layers, kvHeads, tokens)
 * </pre>
 */
public final class ResidualTokenStats implements AutoCloseable {
  private static final int HEADER_BYTES = 2 * Integer.BYTES;
  private static final int IDS = 0;
  private static final int NO_QUERY = -1;

  private final int kvHeads;
  private final TokenRingBuffer numbers;
  private final int[] lastQuery; // by layer and KV head: its position, of those that are pending
  private final int[] firstObserved; // by layer and KV head: the first position that they gave to
  private int length; // positions that count

  /**
   * @param tokens that there is always room for. Where tokens come one by one, those that are not
   *     packed are at the most sinks, window and the blocks that are sealed together; with as many
   *     more as a prompt's step has, memory is taken only while packing is held back.
   * @param pool that its memory is taken from
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
      int kvHeads, TokenRingBuffer numbers, int[] lastQuery, int[] firstGiven) {
    this.kvHeads = kvHeads;
    this.numbers = numbers;
    this.lastQuery = lastQuery;
    this.firstObserved = firstGiven;
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

  /** Bytes with room for so many tokens. */
  public static long bytesFor(int layers, int kvHeads, int tokens) {
    return TokenRingBuffer.bytesFor(rows(layers, kvHeads), tokens);
  }

  /** Bytes that it holds, which are shared with a fork until one of the two writes. */
  public synchronized long bytes() {
    return numbers.bytes();
  }

  /** A token stands at a position, whatever stood there before. */
  public synchronized void observeToken(int position, int token) {
    numbers.extendTo(position, position + 1);
    numbers.set(IDS, position, token);
  }

  /**
   * Adds what the query at position {@code from + count - 1} gives to the tokens up to its own.
   * Queries of a layer and KV head come in their order; one that does not follow the last says that
   * the step of those before it was broken off.
   *
   * @param weights (count) 0 or more
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

  /** What was given counts, as all positions up to {@code counted} do. */
  public synchronized void commit(int counted) {
    length = counted;
    for (int head = 0; head < lastQuery.length; head++) {
      if (lastQuery[head] != NO_QUERY) {
        resolvePending(head, lastQuery[head] < counted);
      }
    }
  }

  /** Adds to a head's sums what is pending, or drops it. */
  private void resolvePending(int head, boolean counts) {
    int from = Math.max(numbers.begin(), firstObserved[head]);
    int to = Math.min(numbers.end(), lastQuery[head] + 1);
    if (from < to) {
      numbers.extendTo(from, to);
    }
    int sums = attentionMass(head);
    int row = pending(head);
    for (int position = from; position < to; position++) {
      if (counts) {
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

  /** The id of a token; 0 where nobody told. */
  public synchronized int tokenId(int position) {
    return numbers.get(IDS, position);
  }

  /**
   * What tokens have received that counts; 0 where nobody told.
   *
   * @param position of the first of them
   * @param out (count), set
   */
  public synchronized void attentionMass(
      int layer, int kvHead, int position, int count, int[] out) {
    int row = attentionMass(layer * kvHeads + kvHead);
    for (int i = 0; i < count; i++) {
      out[i] = numbers.get(row, position + i);
    }
  }

  /** Every layer has packed what lies before a position. */
  public synchronized void dropBefore(int position) {
    numbers.dropBefore(position);
  }

  /** Later tokens are forgotten; what they gave to earlier ones stays. */
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

  /** Tokens that are held and count. */
  private int committedTokens() {
    return Math.max(0, Math.min(numbers.end(), length) - numbers.begin());
  }

  public synchronized long serializedBytes() {
    return HEADER_BYTES + serializedBytes(committedTokens());
  }

  private long serializedBytes(int tokens) {
    return (long) Integer.BYTES * tokens * (1 + lastQuery.length);
  }

  /** Writes what counts: what is pending between steps belongs to one that was broken off. */
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
   * What {@link #generate} wrote.
   *
   * @param tokens that there is always room for
   * @throws dev.kvasir.error.InvalidInputException in one sentence, where it cannot be that
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
