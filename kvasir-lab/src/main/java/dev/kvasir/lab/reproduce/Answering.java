package dev.kvasir.lab.reproduce;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.lab.eval.AnswerSampling;
import dev.kvasir.lab.eval.BatchAnswers;

/**
 * How a table's answers are generated. Prompts are quantized at their end, as in the papers.
 *
 * @param temperature 0 for the most likely tokens
 * @param answers answers to each question
 * @param budgetContext tokens that budgets are for; 0 for the longest sequence
 */
record Answering(double temperature, double topP, int answers, int budgetContext) {
  /** Most answers to a question in a quick run. */
  private static final int QUICK_ANSWERS = 2;

  static final Answering GREEDY = new Answering(0, 1, 1, 0);

  /** The sampling that all papers use for reasoning. */
  static Answering sampled(int answers) {
    return new Answering(0.6, 0.95, answers, 0);
  }

  Answering withBudget(int tokens) {
    return new Answering(temperature, topP, answers, tokens);
  }

  BatchAnswers batches(Request request) {
    int count = request.quick() ? Math.min(QUICK_ANSWERS, answers) : answers;
    AnswerSampling sampling = new AnswerSampling(temperature, topP, count, request.seed());
    int budget = request.quick() ? 0 : budgetContext;
    return new BatchAnswers(sampling, Prefill.EXACT, budget);
  }
}
