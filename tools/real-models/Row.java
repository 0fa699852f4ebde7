import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The comparison of one model file. */
record Row(Tokens tokens, List<GreedyText> greedy, Divergence divergence, Prompts prompts) {
  static final String HEADER =
      """
      | file | loads | token ids | greedy text | lead where it differs | KL | same top | perplexity | llama.cpp | prompts |
      |---|---|---:|---:|---:|---:|---:|---:|---:|---:|""";

  /** Returns false where tokens or prompts differ, which rounding cannot explain. */
  boolean agrees() {
    return tokens.same() == tokens.all() && prompts.differing().isEmpty();
  }

  String line(String file) {
    return String.format(
        Locale.ROOT,
        "| `%s` | yes | %d of %d | %s | %s | %.4f | %.1f%% | %.3f | %.3f | %s |",
        file,
        tokens.same(),
        tokens.all(),
        greedy.stream().map(GreedyText::length).collect(Collectors.joining(", ")),
        greedy.stream().map(GreedyText::leads).collect(Collectors.joining(", ")),
        divergence.mean(),
        divergence.sameTop() * 100,
        divergence.perplexity(),
        divergence.theirPerplexity(),
        prompts);
  }
}
