package dev.kvasir.lab.eval;

import java.io.Serializable;
import java.util.List;

/** The result of one cache in one task. */
public sealed interface Score extends Serializable {
  /** Returns the main value of the task. */
  Estimate estimate();

  /**
   * Returns the samples whose mean is the main value, in an order that is the same for all rows. A
   * sample is 1 for a correct answer and 0 for a wrong one, or the mean of a block of {@link
   * #BLOCK_TOKENS} tokens. Rows are compared sample by sample.
   */
  List<Double> samples();

  /** Returns the answers if there are several to each question, else none. */
  default SampledAnswers sampled() {
    return SampledAnswers.NONE;
  }

  /** Files of evaluations without sampled answers lack the component. */
  private static SampledAnswers orNone(SampledAnswers found) {
    return found == null ? SampledAnswers.NONE : found;
  }

  /** Tokens of a block of text: one page, so that each block meets a quantized past. */
  int BLOCK_TOKENS = 128;

  /**
   * @param estimate exponential of the mean of samples
   * @param samples mean negative log likelihood of a token, by block
   */
  record Perplexity(Estimate estimate, List<Double> samples) implements Score {}

  /**
   * @param estimate mean over all tokens of KL(fp16 || this), in nats
   * @param p99 99th percentile of the divergence
   * @param sameTop tokens with the same most likely successor as fp16
   * @param samples mean divergence by block, which shows how it grows along the text
   */
  record Divergence(Estimate estimate, double p99, Proportion sameTop, List<Double> samples)
      implements Score {}

  /**
   * @param estimate mean over all generated tokens of KL(fp16 || this), in nats
   * @param samples mean divergence by opening
   * @param together mean number of tokens before the most likely token differs from the reference
   * @param tokens tokens generated after each opening
   * @param togetherSamples the same by opening
   * @param byPosition mean divergence of every {@link #SEGMENT_TOKENS} tokens along the generated
   *     text
   */
  record Drift(
      Estimate estimate,
      List<Double> samples,
      Estimate together,
      int tokens,
      List<Double> togetherSamples,
      List<Double> byPosition)
      implements Score {
    /** Tokens of a segment: half a page. */
    public static final int SEGMENT_TOKENS = 64;
  }

  /**
   * @param estimate proportion of exact answers
   * @param grid answers by context length, then by depth
   * @param sampled the answers, if there are several to each question
   */
  record Retrieval(
      Estimate estimate, List<Double> samples, List<GridCell> grid, SampledAnswers sampled)
      implements Score {
    public Retrieval {
      sampled = orNone(sampled);
    }

    public Retrieval(Estimate estimate, List<Double> samples, List<GridCell> grid) {
      this(estimate, samples, grid, SampledAnswers.NONE);
    }
  }

  /**
   * @param estimate proportion of programs that are correct to the last line
   * @param samples 1 for such a program
   * @param rightSteps mean number of steps before the first wrong one
   * @param steps steps of a program
   * @param stepSamples steps before the first wrong one, by program
   * @param sampled the answers, if there are several to each program
   */
  record Chain(
      Estimate estimate,
      List<Double> samples,
      Estimate rightSteps,
      int steps,
      List<Double> stepSamples,
      SampledAnswers sampled)
      implements Score {
    public Chain {
      sampled = orNone(sampled);
    }

    public Chain(
        Estimate estimate,
        List<Double> samples,
        Estimate rightSteps,
        int steps,
        List<Double> stepSamples) {
      this(estimate, samples, rightSteps, steps, stepSamples, SampledAnswers.NONE);
    }
  }

  /**
   * @param estimate proportion of correct answers
   * @param sampled the answers, if there are several to each question
   */
  record Answers(Estimate estimate, List<Double> samples, SampledAnswers sampled) implements Score {
    public Answers {
      sampled = orNone(sampled);
    }

    public Answers(Estimate estimate, List<Double> samples) {
      this(estimate, samples, SampledAnswers.NONE);
    }
  }

  /**
   * Answers about facts at one depth in contexts of one length.
   *
   * @param context maximum tokens of the context
   * @param depth fifth of the context that contains the fact, 0 for the first
   */
  record GridCell(int context, int depth, Proportion share) implements Serializable {}

  /** Number of depth ranges of a context. */
  int DEPTHS = 5;
}
