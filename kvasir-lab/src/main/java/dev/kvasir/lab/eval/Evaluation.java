package dev.kvasir.lab.eval;

import java.util.List;

/**
 * The results of an evaluation.
 *
 * @param model model name from its file, and outliers that were put into its keys
 * @param settings the requested settings
 * @param text name of the text for perplexity and divergence
 * @param machine processors, kernels and Java version; they affect speeds, and kernels with float
 *     activations affect scores
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
