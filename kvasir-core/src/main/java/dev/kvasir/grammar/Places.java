package dev.kvasir.grammar;

import dev.kvasir.grammar.Place.Reading;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Reads texts byte by byte. A place is a set of states with their stacks; places are made when they
 * are first reached and kept, so that a way that was gone before costs a look-up a byte. Only what
 * can still become a text is followed. Not safe for several threads.
 */
final class Places {
  private static final int MOST_KEPT = 1 << 14;

  /**
   * Alternatives that begin alike double with each level in which they nest. What is left out is
   * not generated, and what is kept can end as before.
   */
  private static final int MOST_READINGS = 1000;

  private final Automaton automaton;
  private final Map<Place.Key, Place> kept = new HashMap<>();
  private final Place start;
  private final Place end;

  Places(Automaton automaton) {
    this.automaton = automaton;
    Closure closure = new Closure();
    closure.add(automaton.start, Waiting.NOTHING);
    this.start = closure.place();
    this.end = new Place(new Place.Key(Set.of(), true), automaton.byteOfClass.length);
  }

  Place start() {
    return start;
  }

  /** Behind a text that is over, where nothing may come but what ends it. */
  Place end() {
    return end;
  }

  /** Forgets places when there are too many; those that somebody holds can be gone on from. */
  void trim() {
    if (kept.size() > MOST_KEPT) {
      forget();
    }
  }

  void forget() {
    kept.clear();
  }

  /** A dead place where the byte may not come. */
  Place after(Place place, int value) {
    int kind = automaton.classOfByte[value];
    Place next = place.next[kind];
    if (next == null) {
      next = find(place, automaton.byteOfClass[kind]);
      place.next[kind] = next;
    }
    return next;
  }

  /** Whether each byte of plain text leads back to the place. */
  boolean staysInPlainText(Place place) {
    if (place.staysInPlainText == null) {
      boolean stays = true;
      for (int value = TokenTrie.FIRST_PLAIN; stays && value <= TokenTrie.LAST_PLAIN; value++) {
        stays = !TokenTrie.isPlain(value) || after(place, value) == place;
      }
      place.staysInPlainText = stays;
    }
    return place.staysInPlainText;
  }

  private Place find(Place place, int value) {
    Closure closure = new Closure();
    for (Reading reading : place.key.readings()) {
      int state = reading.state();
      for (int e = automaton.firstEdge[state]; e < automaton.firstEdge[state + 1]; e++) {
        if (automaton.low[e] >= 0 && automaton.low[e] <= value && value <= automaton.high[e]) {
          closure.add(automaton.target[e], reading.waiting());
        }
      }
    }
    return closure.place();
  }

  /** Follows what takes no byte: empty edges, calls, and the ends of rules. */
  private final class Closure {
    private final Set<Reading> reached = new LinkedHashSet<>();
    private final ArrayDeque<Reading> unfollowed = new ArrayDeque<>();
    private boolean isText;

    void add(int state, Waiting waiting) {
      if (automaton.mayEnd(state, waiting.depth())) {
        Reading reading = new Reading(state, waiting);
        if (reached.add(reading)) {
          unfollowed.add(reading);
        }
      }
    }

    Place place() {
      while (!unfollowed.isEmpty()) {
        Reading reading = unfollowed.remove();
        if (automaton.lasts.get(reading.state())) {
          end(reading.waiting());
        } else {
          follow(reading);
        }
      }
      Set<Reading> readings =
          reached.stream()
              .filter(reading -> automaton.takesBytes(reading.state()))
              .limit(MOST_READINGS)
              .collect(Collectors.toCollection(LinkedHashSet::new));
      Place.Key key = new Place.Key(readings, isText);
      return kept.computeIfAbsent(key, k -> new Place(k, automaton.byteOfClass.length));
    }

    private void end(Waiting waiting) {
      if (waiting == Waiting.NOTHING) {
        isText = true;
      } else {
        add(waiting.state(), waiting.below());
      }
    }

    private void follow(Reading reading) {
      Waiting waiting = reading.waiting();
      for (int e = automaton.firstEdge[reading.state()];
          e < automaton.firstEdge[reading.state() + 1];
          e++) {
        int next = automaton.target[e];
        if (automaton.low[e] == Automaton.NOTHING) {
          add(next, waiting);
        } else if (automaton.low[e] == Automaton.CALL) {
          call(automaton.high[e], next, waiting);
        }
      }
    }

    private void call(int first, int next, Waiting waiting) {
      if (automaton.lasts.get(next)) {
        add(first, waiting);
      } else if (automaton.mayEnd(next, waiting.depth())) {
        add(first, waiting.push(next));
      }
    }
  }
}
