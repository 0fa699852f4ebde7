package dev.kvasir.lab.eval;

import java.util.List;

/**
 * The results of an evaluation.
 *
 * @param model model name from its file
 * @param settings the requested settings
 * @param text name of the text for perplexity and divergence
 * @param machine processors, kernels and Java version, which affect only the speeds
 * @param complete false if the evaluation was cancelled
 * @param rows fp16 first, then in the requested order
 */
public record Evaluation(
    String model,
    EvaluationSettings settings,
    String text,
    String machine,
    boolean complete,
    List<Row> rows) {

  public Row reference() {
    return rows.getFirst();
  }
}
