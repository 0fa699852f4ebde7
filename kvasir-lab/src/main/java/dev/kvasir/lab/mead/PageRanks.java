package dev.kvasir.lab.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.mead.HeadProfile;
import java.util.Arrays;

/**
 * Ranks the tokens of each page by the attention they receive and finds late sinks: tokens after
 * the first ones that every later query attends to. Pages start at the first token after the
 * cache's sinks.
 */
final class PageRanks {
  /** Tokens that a cache never quantizes. */
  static final int SINKS = 16;

  private static final int PAGE = Page.TOKENS;

  /** Rank of tokens outside any page and of late sinks. */
  static final int NONE = -1;

  /** Attention relative to the page mean that makes a token a late sink. */
  private static final double LATE_SINK = 16;

  private static final int MAX_LATE_SINKS = 4;

  private final int[][] ranks; // by head and token: eighth of the page, or NONE
  private final int pages;

  /**
   * @param attentionMass (tokens, kvHeads)
   */
  PageRanks(float[] attentionMass, int kvHeads) {
    int tokens = attentionMass.length / kvHeads;
    this.pages = Math.max(0, (tokens - SINKS) / PAGE);
    this.ranks = new int[kvHeads][tokens];
    boolean[] isLateSink = lateSinks(attentionMass, kvHeads);
    for (int head = 0; head < kvHeads; head++) {
      Arrays.fill(ranks[head], NONE);
      for (int page = 0; page < pages; page++) {
        rank(attentionMass, kvHeads, head, SINKS + page * PAGE, isLateSink);
      }
    }
  }

  private boolean[] lateSinks(float[] attentionMass, int kvHeads) {
    boolean[] found = new boolean[attentionMass.length / kvHeads];
    int left = MAX_LATE_SINKS;
    for (int page = 0; page < pages; page++) {
      double[] sums = new double[PAGE];
      for (int i = 0; i < PAGE; i++) {
        for (int head = 0; head < kvHeads; head++) {
          sums[i] += attentionMass[(SINKS + page * PAGE + i) * kvHeads + head];
        }
      }
      double mean = Arrays.stream(sums).average().orElseThrow();
      for (int i = 0; i < PAGE && left > 0; i++) {
        if (sums[i] >= LATE_SINK * mean) {
          found[SINKS + page * PAGE + i] = true;
          left--;
        }
      }
    }
    return found;
  }

  private void rank(float[] attentionMass, int kvHeads, int head, int first, boolean[] isLateSink) {
    Integer[] order = new Integer[PAGE];
    Arrays.setAll(order, i -> first + i);
    Arrays.sort(
        order,
        (a, b) ->
            Float.compare(
                of(attentionMass, kvHeads, head, b, isLateSink),
                of(attentionMass, kvHeads, head, a, isLateSink)));
    for (int rank = 0; rank < PAGE; rank++) {
      int token = order[rank];
      ranks[head][token] = isLateSink[token] ? NONE : rank * HeadProfile.RANK_BUCKETS / PAGE;
    }
  }

  /** Late sinks come last, because they are not quantized. */
  private static float of(
      float[] attentionMass, int kvHeads, int head, int token, boolean[] isLateSink) {
    return isLateSink[token] ? -1 : attentionMass[token * kvHeads + head];
  }

  int pages() {
    return pages;
  }

  /**
   * Returns the eighth of its page that a token is in, 0 for the most attended, or {@link #NONE}.
   */
  int rankOf(int head, int token) {
    return ranks[head][token];
  }
}
