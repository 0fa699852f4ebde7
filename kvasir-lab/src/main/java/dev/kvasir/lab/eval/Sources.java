package dev.kvasir.lab.eval;

import dev.kvasir.lab.task.WordProblem;
import dev.kvasir.lab.text.BundledText;
import java.util.List;
import java.util.Objects;

/**
 * Where texts and questions come from.
 *
 * @param bundledModel whether the model is the bundled one, which is asked in the words it was
 *     trained on
 * @param textName what messages and reports call the text
 * @param text for perplexity and divergence
 * @param filler prose for secret numbers
 * @param problems the user's own questions
 */
public record Sources(
    boolean bundledModel, String textName, String text, String filler, List<WordProblem> problems) {

  /** The texts that come with the lab, and no questions. */
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

  /** Of all that rows read and are asked. */
  String hash() {
    return Integer.toHexString(Objects.hash(bundledModel, text, filler, problems));
  }
}
