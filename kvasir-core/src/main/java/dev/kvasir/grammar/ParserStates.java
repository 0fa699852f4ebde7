package dev.kvasir.grammar;

import dev.kvasir.grammar.ParserState.Configuration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Parses texts byte by byte, as a lazily determinized automaton. A state is a set of
 * configurations. States are computed on first use and cached, so a known transition costs one
 * array lookup per byte. Configurations that cannot reach the end are dropped. Not thread-safe.
 */
final class ParserStates {
  private static final int MAX_CACHED = 1 << 14;

  /**
   * Alternatives with a common prefix double with each level of nesting. Dropped configurations are
   * not generated; the remaining ones can still reach the end.
   */
  private static final int MAX_CONFIGURATIONS = 1000;

  /**
   * The same limit for configurations on the way there. The last one found is followed first, so
   * some reach a byte before the limit, however the rules of a grammar call each other.
   */
  private static final int MAX_REACHED = 1 << 14;

  private final Automaton automaton;
  private final Map<ParserState.Key, ParserState> cache = new HashMap<>();
  private final ParserState start;
  private final ParserState finished;

  ParserStates(Automaton automaton) {
    this.automaton = automaton;
    Closure closure = new Closure();
    closure.add(automaton.start, CallStack.EMPTY);
    this.start = closure.toState();
    this.finished =
        new ParserState(new ParserState.Key(Set.of(), true), automaton.byteOfClass.length);
  }

  ParserState start() {
    return start;
  }

  /** Returns the state after the end of the text, which allows only end-of-text tokens. */
  ParserState finished() {
    return finished;
  }

  /** Clears the cache if it is too large. States in use remain valid. */
  void trim() {
    if (cache.size() > MAX_CACHED) {
      clear();
    }
  }

  void clear() {
    cache.clear();
  }

  /** Returns a dead state if the byte is not allowed. */
  ParserState advance(ParserState parserState, int value) {
    int kind = automaton.classOfByte[value];
    ParserState next = parserState.next[kind];
    if (next == null) {
      next = computeNext(parserState, automaton.byteOfClass[kind]);
      parserState.next[kind] = next;
    }
    return next;
  }

  /** Returns whether every byte of plain text leads back to the state. */
  boolean staysInPlainText(ParserState parserState) {
    if (parserState.staysInPlainText == null) {
      boolean stays = true;
      for (int value = TokenTrie.FIRST_PLAIN; stays && value <= TokenTrie.LAST_PLAIN; value++) {
        stays = !TokenTrie.isPlain(value) || advance(parserState, value) == parserState;
      }
      parserState.staysInPlainText = stays;
    }
    return parserState.staysInPlainText;
  }

  private ParserState computeNext(ParserState parserState, int value) {
    Closure closure = new Closure();
    for (Configuration configuration : parserState.key.configurations()) {
      int state = configuration.state();
      for (int e = automaton.firstEdge[state]; e < automaton.firstEdge[state + 1]; e++) {
        if (automaton.low[e] >= 0 && automaton.low[e] <= value && value <= automaton.high[e]) {
          closure.add(automaton.target[e], configuration.stack());
        }
      }
    }
    return closure.toState();
  }

  /** Follows transitions that consume no byte: epsilon edges, calls, and ends of rules. */
  private final class Closure {
    private final Set<Configuration> reached = new LinkedHashSet<>();
    private final ArrayDeque<Configuration> unfollowed = new ArrayDeque<>();
    private boolean isAccepting;

    void add(int state, CallStack stack) {
      if (reached.size() < MAX_REACHED && automaton.canFinish(state, stack.depth())) {
        Configuration configuration = new Configuration(state, stack);
        if (reached.add(configuration)) {
          unfollowed.add(configuration);
        }
      }
    }

    ParserState toState() {
      while (!unfollowed.isEmpty()) {
        Configuration configuration = unfollowed.removeLast();
        if (automaton.finalStates.get(configuration.state())) {
          returnFrom(configuration.stack());
        } else {
          follow(configuration);
        }
      }
      ParserState.Key key = new ParserState.Key(consuming(), isAccepting);
      return cache.computeIfAbsent(key, k -> new ParserState(k, automaton.byteOfClass.length));
    }

    /** Returns the configurations that consume a byte. A stream would take longer than they do. */
    private Set<Configuration> consuming() {
      Set<Configuration> consuming = new LinkedHashSet<>();
      for (Configuration configuration : reached) {
        if (consuming.size() < MAX_CONFIGURATIONS
            && automaton.consumesBytes(configuration.state())) {
          consuming.add(configuration);
        }
      }
      return consuming;
    }

    private void returnFrom(CallStack stack) {
      if (stack == CallStack.EMPTY) {
        isAccepting = true;
      } else {
        add(stack.returnState(), stack.parent());
      }
    }

    private void follow(Configuration configuration) {
      CallStack stack = configuration.stack();
      for (int e = automaton.firstEdge[configuration.state()];
          e < automaton.firstEdge[configuration.state() + 1];
          e++) {
        int next = automaton.target[e];
        if (automaton.low[e] == Automaton.EPSILON) {
          add(next, stack);
        } else if (automaton.low[e] == Automaton.CALL) {
          call(automaton.high[e], next, stack);
        }
      }
    }

    private void call(int first, int next, CallStack stack) {
      if (automaton.finalStates.get(next)) {
        add(first, stack);
      } else if (automaton.canFinish(next, stack.depth())) {
        add(first, stack.push(next));
      }
    }
  }
}
