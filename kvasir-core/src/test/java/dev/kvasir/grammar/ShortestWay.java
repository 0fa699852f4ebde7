package dev.kvasir.grammar;

import java.util.Arrays;

/** How many bytes a text lacks at the least. */
final class ShortestWay {
  private static final int FAR = 1 << 24;

  private final Automaton automaton;
  private final int[] lacking; // (states), to the end of their rule

  ShortestWay(Automaton automaton) {
    this.automaton = automaton;
    this.lacking = new int[automaton.firstEdge.length - 1];
    Arrays.fill(lacking, FAR);
    automaton.lasts.stream().forEach(last -> lacking[last] = 0);
    boolean changed = true;
    while (changed) {
      changed = false;
      for (int state = lacking.length - 1; state >= 0; state--) {
        int found = shortest(state);
        changed |= found < lacking[state];
        lacking[state] = found;
      }
    }
  }

  private int shortest(int state) {
    int shortest = lacking[state];
    for (int e = automaton.firstEdge[state]; e < automaton.firstEdge[state + 1]; e++) {
      int taken =
          automaton.low[e] >= 0
              ? 1
              : automaton.low[e] == Automaton.CALL ? lacking[automaton.high[e]] : 0;
      shortest = Math.min(shortest, taken + lacking[automaton.target[e]]);
    }
    return shortest;
  }

  int from(Place place) {
    return place.isText()
        ? 0
        : place.key.readings().stream().mapToInt(this::from).min().orElse(FAR);
  }

  private int from(Place.Reading reading) {
    int bytes = lacking[reading.state()];
    for (Waiting w = reading.waiting(); w != Waiting.NOTHING; w = w.below()) {
      bytes += lacking[w.state()];
    }
    return bytes;
  }
}
