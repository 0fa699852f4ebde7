package dev.kvasir.lab.eval;

import dev.kvasir.lab.task.Document;
import dev.kvasir.lab.task.Question;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;

/**
 * A document as token ids. The prompts of its questions share a prefix, which is read once.
 *
 * @param context context length in tokens, including the answer
 * @param prefix ids that all prompts start with
 * @param suffixes ids after the prefix, by question; at least one each
 * @param answerTokens maximum tokens of an answer
 */
record Passage(
    int context, int[] prefix, List<int[]> suffixes, List<Question> questions, int answerTokens)
    implements Serializable {

  static Passage of(Document document, Prompts prompts, int context, int answerTokens) {
    List<int[]> ids =
        document.questions().stream()
            .map(
                question ->
                    prompts.ids(
                        document.text() + question.text(),
                        document.text() + question.instruction()))
            .toList();
    int shared = commonPrefixLength(ids);
    return new Passage(
        context,
        Arrays.copyOf(ids.getFirst(), shared),
        ids.stream().map(all -> Arrays.copyOfRange(all, shared, all.length)).toList(),
        document.questions(),
        answerTokens);
  }

  private static int commonPrefixLength(List<int[]> ids) {
    int shared = ids.getFirst().length - 1;
    for (int[] other : ids) {
      int mismatch = Arrays.mismatch(ids.getFirst(), 0, shared, other, 0, other.length - 1);
      shared = mismatch < 0 ? shared : mismatch;
    }
    return shared;
  }

  /** Returns the tokens of the longest prompt and an answer. */
  int maxLength() {
    int longest = suffixes.stream().mapToInt(suffix -> suffix.length).max().orElse(0);
    return prefix.length + longest + answerTokens;
  }

  double cost(int answers) {
    double cost = ProgressCounter.prefillCost(0, prefix.length);
    for (int[] suffix : suffixes) {
      cost += ProgressCounter.prefillCost(prefix.length, suffix.length - 1);
      cost += answers * ProgressCounter.decodeCost(prefix.length + suffix.length, answerTokens);
    }
    return cost;
  }
}
