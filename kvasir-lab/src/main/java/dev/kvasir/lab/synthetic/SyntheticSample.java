package dev.kvasir.lab.synthetic;

import java.util.List;

/**
 * A long text with one question.
 *
 * @param answers strings that a right answer contains, all of them
 */
public record SyntheticSample(String context, String question, List<String> answers) {
  public SyntheticSample {
    answers = List.copyOf(answers);
  }

  /** Returns the text, then the question. */
  public String prompt() {
    return context + "\n\n" + question;
  }

  /** Returns the share of the expected strings that an answer contains. */
  public double score(String answer) {
    return (double) answers.stream().filter(answer::contains).count() / answers.size();
  }
}
