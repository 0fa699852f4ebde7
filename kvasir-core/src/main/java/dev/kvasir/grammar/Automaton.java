package dev.kvasir.grammar;

import java.util.BitSet;

/**
 * A grammar as a pushdown automaton. An edge consumes a byte of a range, or nothing, or all bytes
 * of a rule. A rule's edge pushes its target, which is popped in the final state of the rule. Final
 * states have no edges. A call whose target is a final state is a tail call and pushes nothing.
 *
 * <p>Edges of state {@code s} are those from {@code firstEdge[s]} up to {@code firstEdge[s + 1]}.
 */
final class Automaton {
  /** The depth of the call stack, which bounds how deep a text nests. */
  static final int MAX_DEPTH = 128;

  /** An edge that consumes nothing; stored in place of its lowest byte. */
  static final int EPSILON = -1;

  /**
   * A rule call; stored in place of the lowest byte. The highest byte is the rule's first state.
   */
  static final int CALL = -2;

  private static final int UNREACHABLE = MAX_DEPTH + 1;

  final int start;
  final int[] firstEdge; // (states + 1)
  final int[] low; // (edges)
  final int[] high;
  final int[] target;
  final BitSet finalStates;

  /** The additional stack depth on the shortest path to the end of a state's rule. */
  private final int[] minStackDepth; // (states)

  /** Bytes that no edge distinguishes have the same class. */
  final int[] classOfByte = new int[256];

  final int[] byteOfClass;

  Automaton(int start, int[] firstEdge, int[] low, int[] high, int[] target, BitSet finalStates) {
    this.start = start;
    this.firstEdge = firstEdge;
    this.low = low;
    this.high = high;
    this.target = target;
    this.finalStates = finalStates;
    this.minStackDepth = computeMinStackDepths();
    this.byteOfClass = classify();
  }

  /** Returns whether the grammar accepts any text within the depth limit. */
  boolean isNonEmpty() {
    return canFinish(start, 0);
  }

  /** Returns whether a text in this state, at this stack depth, can be completed. */
  boolean canFinish(int state, int stackDepth) {
    return stackDepth + minStackDepth[state] <= MAX_DEPTH;
  }

  boolean consumesBytes(int state) {
    for (int e = firstEdge[state]; e < firstEdge[state + 1]; e++) {
      if (low[e] >= 0) {
        return true;
      }
    }
    return false;
  }

  /** Computes the least fixed point. Most targets follow their states, so it iterates backwards. */
  private int[] computeMinStackDepths() {
    int states = firstEdge.length - 1;
    int[] found = new int[states];
    for (int s = 0; s < states; s++) {
      found[s] = finalStates.get(s) ? 0 : UNREACHABLE;
    }
    boolean changed = true;
    while (changed) {
      changed = false;
      for (int s = states - 1; s >= 0; s--) {
        for (int e = firstEdge[s]; e < firstEdge[s + 1]; e++) {
          int by = minStackDepthVia(e, found);
          if (by < found[s]) {
            found[s] = by;
            changed = true;
          }
        }
      }
    }
    return found;
  }

  private int minStackDepthVia(int edge, int[] found) {
    int after = found[target[edge]];
    if (low[edge] != CALL) {
      return after;
    }
    int called = found[high[edge]];
    return finalStates.get(target[edge])
        ? called
        : Math.min(UNREACHABLE, Math.max(called + 1, after));
  }

  private int[] classify() {
    BitSet begins = new BitSet(257);
    begins.set(0);
    for (int e = 0; e < low.length; e++) {
      if (low[e] >= 0) {
        begins.set(low[e]);
        begins.set(high[e] + 1);
      }
    }
    begins.clear(256);
    int[] bytes = begins.stream().toArray();
    for (int b = 0, c = -1; b < 256; b++) {
      c += begins.get(b) ? 1 : 0;
      classOfByte[b] = c;
    }
    return bytes;
  }
}
