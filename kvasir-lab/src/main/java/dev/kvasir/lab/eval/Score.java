package dev.kvasir.lab.eval;

import java.io.Serializable;
import java.util.List;

/** What one kind of cache reached in one task. */
public sealed interface Score extends Serializable {
  /** The figure of the column. */
  Estimate estimate();

  /**
   * What the figure is the mean of, in the order in which every row saw the same text or question:
   * 1 for right and 0 for wrong, or the mean of a block of {@link #BLOCK_TOKENS} tokens. Rows are
   * compared sample by sample.
   */
  List<Double> samples();

  /** Tokens of a text's block: one page, so that each block meets a past that is packed. */
  int BLOCK_TOKENS = 128;

  /**
   * @param estimate e to the mean of samples
   * @param samples mean negative log likelihood of a token, block by block
   */
  record Perplexity(Estimate estimate, List<Double> samples) implements Score {}

  /**
   * @param estimate mean over all tokens of KL(fp16 || this), in nats
   * @param p99 the divergence that 99 of 100 tokens stay below
   * @param sameTop tokens after which the likeliest next one is the same
   * @param samples mean divergence, block by block: how it grows along the text
   */
  record Divergence(Estimate estimate, double p99, Proportion sameTop, List<Double> samples)
      implements Score {}

  /**
   * @param estimate mean over all generated tokens of KL(fp16 || this), in nats
   * @param samples mean divergence, opening by opening
   * @param together mean number of tokens before the likeliest one is not the reference's
   * @param tokens that were generated after each opening
   * @param togetherSamples the same, opening by opening
   * @param byPosition mean divergence of each {@link #SEGMENT_TOKENS} tokens along the generated
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
    /** Tokens of a stretch: half a page. */
    public static final int SEGMENT_TOKENS = 64;
  }

  /**
   * @param estimate share of exact answers
   * @param grid the answers by length of context, then by depth
   */
  record Retrieval(Estimate estimate, List<Double> samples, List<GridCell> grid) implements Score {}

  /**
   * @param estimate share of programs that are right to the last line
   * @param samples 1 for such a program
   * @param rightSteps mean number of steps before the first wrong one
   * @param steps steps of a program
   * @param stepSamples steps before the first wrong one, program by program
   */
  record Chain(
      Estimate estimate,
      List<Double> samples,
      Estimate rightSteps,
      int steps,
      List<Double> stepSamples)
      implements Score {}

  /**
   * @param estimate share of right answers
   */
  record Answers(Estimate estimate, List<Double> samples) implements Score {}

  /**
   * Answers whose fact lay in one part of contexts of one length.
   *
   * @param context tokens of the context at the most
   * @param depth which fifth of the context the fact lay in, 0 for the one at its beginning
   */
  record GridCell(int context, int depth, Proportion share) implements Serializable {}

  /** Parts that a context is divided into by depth. */
  int DEPTHS = 5;
}
