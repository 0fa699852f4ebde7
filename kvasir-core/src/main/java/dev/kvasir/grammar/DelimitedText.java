package dev.kvasir.grammar;

/** Grammars of text up to a delimiter. */
final class DelimitedText {
  private DelimitedText() {}

  /**
   * Returns text without a delimiter. With the delimiter {@code abc} it is {@code
   * ([^a]|a+([^ab]|b[^ac]))*}.
   */
  static GrammarExpression without(String delimiter) {
    int[] points = delimiter.codePoints().toArray();
    CodePoints first = CodePoints.of(points[0]);
    GrammarExpression other = new GrammarExpression.CharacterClass(first.not());
    GrammarExpression begun =
        GrammarExpression.sequence(
            GrammarExpression.repeat(
                new GrammarExpression.CharacterClass(first), 1, GrammarExpression.UNBOUNDED),
            afterPart(points, 1));
    GrammarExpression piece = points.length == 1 ? other : GrammarExpression.choice(other, begun);
    return GrammarExpression.repeat(piece, 0, GrammarExpression.UNBOUNDED);
  }

  /** Returns what may follow the first characters of the delimiter. */
  private static GrammarExpression afterPart(int[] points, int length) {
    if (length == points.length) {
      return new GrammarExpression.Choice(java.util.List.of()); // nothing may
    }
    CodePoints next = CodePoints.of(points[length]);
    CodePoints other = next.or(CodePoints.of(points[0])).not();
    GrammarExpression leaves = new GrammarExpression.CharacterClass(other);
    return length == points.length - 1
        ? leaves
        : GrammarExpression.choice(
            leaves,
            GrammarExpression.sequence(
                new GrammarExpression.CharacterClass(next), afterPart(points, length + 1)));
  }
}
