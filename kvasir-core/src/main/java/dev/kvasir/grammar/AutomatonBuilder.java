package dev.kvasir.grammar;

import dev.kvasir.error.InvalidInputException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Compiles expressions to states and edges. Between two states an expression adds only edges that
 * leave the first and edges that reach the second. Alternatives may therefore share both, and the
 * final state of a rule has no edges.
 */
final class AutomatonBuilder {
  private static final int MAX_STATES = 1 << 18;
  private static final int MAX_EDGES = 1 << 20;

  private final Map<Rule, Integer> firstStates = new HashMap<>();
  private final ArrayDeque<Rule> pendingRules = new ArrayDeque<>();
  private final BitSet finalStates = new BitSet();
  private int states;
  private int edges;
  private int[] from = new int[64];
  private int[] low = new int[64];
  private int[] high = new int[64];
  private int[] to = new int[64];

  static Automaton build(GrammarExpression expression) {
    Rule rule = new Rule();
    rule.define(expression);
    AutomatonBuilder builder = new AutomatonBuilder();
    int start = builder.firstState(rule);
    while (!builder.pendingRules.isEmpty()) {
      builder.addRule(builder.pendingRules.remove());
    }
    return builder.automaton(start);
  }

  private int firstState(Rule rule) {
    Integer known = firstStates.get(rule);
    if (known != null) {
      return known;
    }
    int state = newState();
    firstStates.put(rule, state);
    pendingRules.add(rule);
    return state;
  }

  private void addRule(Rule rule) {
    int last = newState();
    finalStates.set(last);
    add(rule.body(), firstStates.get(rule), last);
  }

  private void add(GrammarExpression expression, int first, int last) {
    switch (expression) {
      case GrammarExpression.Literal literal -> addLiteral(literal.bytes(), first, last);
      case GrammarExpression.CharacterClass oneOf -> addCharacter(oneOf.points(), first, last);
      case GrammarExpression.Sequence sequence -> addSequence(sequence.parts(), first, last);
      case GrammarExpression.Choice choice ->
          choice.alternatives().forEach(each -> add(each, first, last));
      case GrammarExpression.Repeat repeat -> addRepeat(repeat, first, last);
      case GrammarExpression.Call call ->
          edge(first, Automaton.CALL, firstState(call.rule()), last);
    }
  }

  private void addLiteral(byte[] bytes, int first, int last) {
    if (bytes.length == 0) {
      edge(first, Automaton.EPSILON, 0, last);
    }
    int state = first;
    for (int i = 0; i < bytes.length; i++) {
      int next = i == bytes.length - 1 ? last : newState();
      edge(state, bytes[i] & 0xFF, bytes[i] & 0xFF, next);
      state = next;
    }
  }

  /** Byte sequences share states with equal continuations. */
  private void addCharacter(CodePoints points, int first, int last) {
    Map<List<Integer>, Integer> stateBefore = new HashMap<>();
    for (int[] ranges : Utf8.sequences(points)) {
      int next = last;
      for (int i = ranges.length - 2; i > 0; i -= 2) {
        List<Integer> rest = Arrays.stream(ranges, i, ranges.length).boxed().toList();
        Integer state = stateBefore.get(rest);
        if (state == null) {
          state = newState();
          stateBefore.put(rest, state);
          edge(state, ranges[i], ranges[i + 1], next);
        }
        next = state;
      }
      edge(first, ranges[0], ranges[1], next);
    }
  }

  private void addSequence(List<GrammarExpression> parts, int first, int last) {
    if (parts.isEmpty()) {
      edge(first, Automaton.EPSILON, 0, last);
    }
    int state = first;
    for (int i = 0; i < parts.size(); i++) {
      int next = i == parts.size() - 1 ? last : newState();
      add(parts.get(i), state, next);
      state = next;
    }
  }

  private void addRepeat(GrammarExpression.Repeat repeat, int first, int last) {
    int state = first;
    for (int i = 0; i < repeat.min(); i++) {
      state = addCopy(repeat.part(), state);
    }
    if (repeat.max() == GrammarExpression.UNBOUNDED) {
      int loop = newState();
      edge(state, Automaton.EPSILON, 0, loop);
      add(repeat.part(), loop, loop);
      state = loop;
    } else {
      for (int i = repeat.min(); i < repeat.max(); i++) {
        edge(state, Automaton.EPSILON, 0, last);
        state = addCopy(repeat.part(), state);
      }
    }
    edge(state, Automaton.EPSILON, 0, last);
  }

  private int addCopy(GrammarExpression part, int state) {
    int next = newState();
    add(part, state, next);
    return next;
  }

  private int newState() {
    checkSize(states < MAX_STATES);
    return states++;
  }

  private void edge(int source, int lowest, int highest, int next) {
    checkSize(edges < MAX_EDGES);
    if (edges == from.length) {
      from = Arrays.copyOf(from, 2 * edges);
      low = Arrays.copyOf(low, 2 * edges);
      high = Arrays.copyOf(high, 2 * edges);
      to = Arrays.copyOf(to, 2 * edges);
    }
    from[edges] = source;
    low[edges] = lowest;
    high[edges] = highest;
    to[edges++] = next;
  }

  private static void checkSize(boolean fits) {
    if (!fits) {
      throw new InvalidInputException(
          "the grammar takes more than %d states or %d edges; expected less text, or lower bounds"
                  .formatted(MAX_STATES, MAX_EDGES)
              + " of lengths and counts");
    }
  }

  /** Sorts edges by state; those of one state stay in insertion order. */
  private Automaton automaton(int start) {
    int[] firstEdge = new int[states + 1];
    for (int e = 0; e < edges; e++) {
      firstEdge[from[e] + 1]++;
    }
    for (int s = 0; s < states; s++) {
      firstEdge[s + 1] += firstEdge[s];
    }
    int[] next = firstEdge.clone();
    int[][] sorted = new int[3][edges];
    for (int e = 0; e < edges; e++) {
      int position = next[from[e]]++;
      sorted[0][position] = low[e];
      sorted[1][position] = high[e];
      sorted[2][position] = to[e];
    }
    return new Automaton(start, firstEdge, sorted[0], sorted[1], sorted[2], finalStates);
  }
}
