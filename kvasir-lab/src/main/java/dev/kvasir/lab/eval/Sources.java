package dev.kvasir.lab.eval;

import dev.kvasir.lab.task.WordProblem;
import dev.kvasir.lab.text.BundledText;
import java.util.List;
import java.util.Objects;

/**
 * The texts and questions of an evaluation.
 *
 * @param bundledModel whether the model is the bundled one, which gets prompts in its training
 *     wording
 * @param textName name of the text in messages and reports
 * @param text text for perplexity and divergence
 * @param filler prose that hides the secret numbers
 * @param problems the user's own questions
 */
public record Sources(
    boolean bundledModel, String textName, String text, String filler, List<WordProblem> problems) {

  /** Returns the texts that come with the lab, without questions. */
  public static Sources bundled(boolean bundledModel) {
    return new Sources(
        bundledModel, "the bundled text", BundledText.stream(), BundledText.filler(), List.of());
  }

  public Sources withText(String name, String value) {
    return new Sources(bundledModel, name, value, filler, problems);
  }

  public Sources withProblems(List<WordProblem> value) {
    return new Sources(bundledModel, textName, text, filler, value);
  }

  /** Returns a hash of everything that rows read and answer. */
  String hash() {
    return Integer.toHexString(Objects.hash(bundledModel, text, filler, problems));
  }
}
