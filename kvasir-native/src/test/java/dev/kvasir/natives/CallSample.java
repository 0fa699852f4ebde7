package dev.kvasir.natives;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A sample of the calls of a function, spread over all sizes. Hashes select the calls, so the same
 * calls in the same order give the same sample.
 */
final class CallSample {
  private static final int MAX_CALLS = 600;
  private static final int MAX_BYTES = 4 << 20;

  /** A larger call would displace many. */
  private static final int MAX_BYTES_PER_CALL = MAX_BYTES / 8;

  /** Calls with the same integers but different memory contents. */
  private static final int MAX_ALIKE = 8;

  private final Map<List<Integer>, Integer> alike = new HashMap<>();
  private final TreeMap<Rank, byte[]> calls = new TreeMap<>();
  private long bytes;

  /**
   * The priority of a call in the sample.
   *
   * @param round number of earlier calls with the same integers
   */
  record Rank(int round, int hash, int number) implements Comparable<Rank> {
    @Override
    public int compareTo(Rank other) {
      // The first calls of all sizes come before the second call of any.
      if (round != other.round) {
        return Integer.compare(round, other.round);
      }
      return hash != other.hash
          ? Integer.compare(hash, other.hash)
          : Integer.compare(number, other.number);
    }
  }

  /** Ranks a new call by its integer arguments. */
  Rank rank(List<Integer> integers) {
    int round = alike.merge(integers, 1, Integer::sum) - 1;
    int hash = integers.hashCode() * 0x9E3779B9;
    return new Rank(round, hash ^ hash >>> 15, alike.size());
  }

  /** Returns whether the sample accepts a call of this rank and size. */
  boolean takes(Rank rank, long callBytes) {
    if (rank.round() >= MAX_ALIKE || callBytes > MAX_BYTES_PER_CALL) {
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
