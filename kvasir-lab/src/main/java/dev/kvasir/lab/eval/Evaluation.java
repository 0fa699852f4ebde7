package dev.kvasir.lab.eval;

import java.util.List;

/**
 * All that an evaluation found.
 *
 * @param model the name inside its file
 * @param settings what was asked for
 * @param text what perplexity and divergence were measured on
 * @param machine processors, kernels and Java, on which only the speeds depend
 * @param complete false where it was interrupted
 * @param rows half precision first, then in the order asked for
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
