package dev.kvasir.lab.task;

import java.io.Serializable;

/**
 * A question about a document.
 *
 * @param text as it follows the document, up to where the answer begins
 * @param instruction the same as one would ask a model that follows instructions
 * @param answer digits
 * @param depth where in the document its fact lies, from 0 to 1
 */
public record Question(String text, String instruction, String answer, double depth)
    implements Serializable {
  /** In the words that the bundled model was trained on, and in those for any other. */
  static Question about(String question, String answer, double depth) {
    return new Question(
        "\nQuestion: " + question + "\nAnswer:",
        "\n\n" + question + " Answer with the number alone.",
        answer,
        depth);
  }
}
