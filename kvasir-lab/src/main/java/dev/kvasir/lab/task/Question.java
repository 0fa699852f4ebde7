package dev.kvasir.lab.task;

import java.io.Serializable;

/**
 * A question about a document.
 *
 * @param text the question as it follows the document, up to where the answer starts
 * @param instruction the question as an instruction for a chat model
 * @param answer digits
 * @param depth position of the fact in the document, from 0 to 1
 */
public record Question(String text, String instruction, String answer, double depth)
    implements Serializable {
  /** Creates a question in the training wording of the bundled model and as an instruction. */
  static Question about(String question, String answer, double depth) {
    return new Question(
        "\nQuestion: " + question + "\nAnswer:",
        "\n\n" + question + " Answer with the number alone.",
        answer,
        depth);
  }
}
