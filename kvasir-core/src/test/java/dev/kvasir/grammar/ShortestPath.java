package dev.kvasir.grammar;

import java.util.Arrays;

/** The minimum number of bytes that complete a text. */
final class ShortestPath {
  private static final int UNREACHABLE = 1 << 24;

  private final Automaton automaton;
  private final int[] remaining; // (states), bytes to the end of the rule

  ShortestPath(Automaton automaton) {
    this.automaton = automaton;
    this.remaining = new int[automaton.firstEdge.length - 1];
    Arrays.fill(remaining, UNREACHABLE);
    automaton.finalStates.stream().forEach(last -> remaining[last] = 0);
    boolean changed = true;
    while (changed) {
      changed = false;
      for (int state = remaining.length - 1; state >= 0; state--) {
        int found = shortest(state);
        changed |= found < remaining[state];
        remaining[state] = found;
      }
    }
  }

  private int shortest(int state) {
    int shortest = remaining[state];
    for (int e = automaton.firstEdge[state]; e < automaton.firstEdge[state + 1]; e++) {
      int taken =
          automaton.low[e] >= 0
              ? 1
              : automaton.low[e] == Automaton.CALL ? remaining[automaton.high[e]] : 0;
      shortest = Math.min(shortest, taken + remaining[automaton.target[e]]);
    }
    return shortest;
  }

  int from(ParserState parserState) {
    return parserState.isAccepting()
        ? 0
        : parserState.key.configurations().stream().mapToInt(this::from).min().orElse(UNREACHABLE);
  }

  private int from(ParserState.Configuration configuration) {
    int bytes = remaining[configuration.state()];
    for (CallStack w = configuration.stack(); w != CallStack.EMPTY; w = w.parent()) {
      bytes += remaining[w.returnState()];
    }
    return bytes;
  }
}
