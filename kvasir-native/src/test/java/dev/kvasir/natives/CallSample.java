package dev.kvasir.natives;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Some of the calls of a function, spread over all sizes that it was called with. Which ones is
 * decided by hashes, so the same calls in the same order give the same sample.
 */
final class CallSample {
  private static final int MAX_CALLS = 600;
  private static final int MAX_BYTES = 4 << 20;

  /** A larger call would displace many. */
  private static final int MAX_BYTES_PER_CALL = MAX_BYTES / 8;

  /** Calls with the same integers, which differ in what their memory holds. */
  private static final int MAX_ALIKE = 8;

  private final Map<List<Integer>, Integer> alike = new HashMap<>();
  private final TreeMap<Rank, byte[]> calls = new TreeMap<>();
  private long bytes;

  /**
   * The order in which calls are kept.
   *
   * @param turn how many calls with the same integers came before
   */
  record Rank(int turn, int hash, int number) implements Comparable<Rank> {
    @Override
    public int compareTo(Rank other) {
      // The first calls of all sizes come before the second ones of any.
      if (turn != other.turn) {
        return Integer.compare(turn, other.turn);
      }
      return hash != other.hash
          ? Integer.compare(hash, other.hash)
          : Integer.compare(number, other.number);
    }
  }

  /** Ranks a new call by its integer arguments. */
  Rank rank(List<Integer> integers) {
    int turn = alike.merge(integers, 1, Integer::sum) - 1;
    int hash = integers.hashCode() * 0x9E3779B9;
    return new Rank(turn, hash ^ hash >>> 15, alike.size());
  }

  /** Whether the sample keeps a call of this rank and size. */
  boolean takes(Rank rank, long callBytes) {
    if (rank.turn() >= MAX_ALIKE || callBytes > MAX_BYTES_PER_CALL) {
      return false;
    }
    boolean full = calls.size() >= MAX_CALLS || bytes + callBytes > MAX_BYTES;
    return !full || rank.compareTo(calls.lastKey()) < 0;
  }

  void add(Rank rank, byte[] call) {
    calls.put(rank, call);
    bytes += call.length;
    while (calls.size() > MAX_CALLS || bytes > MAX_BYTES) {
      bytes -= calls.pollLastEntry().getValue().length;
    }
  }

  Collection<byte[]> calls() {
    return calls.values();
  }
}
