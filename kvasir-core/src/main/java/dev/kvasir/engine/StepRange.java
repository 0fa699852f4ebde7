package dev.kvasir.engine;

import dev.kvasir.cache.KvCache;

/**
 * The positions of the step that a request is in. Prompts are read in steps of {@link
 * Request#PREFILL_STEP} tokens, which may be computed in several batches; a generated token is a
 * step of its own.
 *
 * <pre>
 * promptBegin   begin    cache.length()    end       promptEnd
 *      | earlier steps |   computed   | remaining |
 * </pre>
 */
final class StepRange {
  private final KvCache cache;
  private final boolean quantizesByPosition;
  private int promptBegin;
  private int promptEnd;
  private int begin;
  private int end; // the length of the cache if there is no step

  /**
   * @param quantizesByPosition whether steps end at multiples of their length
   */
  StepRange(KvCache cache, boolean quantizesByPosition) {
    this.cache = cache;
    this.quantizesByPosition = quantizesByPosition;
  }

  /** Returns the last step boundary up to a position. */
  static int wholeSteps(int position) {
    return position - position % Request.PREFILL_STEP;
  }

  /** Starts after the tokens in the cache with a prompt that ends at {@code length}. */
  void beginPrompt(int length) {
    promptBegin = cache.length();
    promptEnd = length;
    begin = promptBegin;
    end = promptBegin;
  }

  /**
   * Returns the rows that remain of the step; begins the next one if there are none.
   *
   * @param unread tokens of the prompt behind the cache; 0 during generation
   */
  int remaining(int unread) {
    if (cache.length() == end) {
      boolean isPrefilling = unread > 0;
      begin = isPrefilling && quantizesByPosition ? wholeSteps(end) : end;
      end += isPrefilling ? promptStep(unread) : 1;
    }
    return end - cache.length();
  }

  /** Returns at least 1; a cache without capacity rejects that token when it is appended. */
  private int promptStep(int unread) {
    int maxTokens = Request.PREFILL_STEP - (end - begin);
    return Math.max(1, cache.stepCapacity(Math.min(maxTokens, unread)));
  }

  /** Ends the step where the cache ends, as after a draft that was accepted in part. */
  void endHere() {
    end = cache.length();
  }

  /** Drops a step that is not complete. */
  void dropIncomplete() {
    if (cache.length() < end && cache.length() > begin) {
      cache.truncate(begin);
    }
  }

  int begin() {
    return begin;
  }

  int end() {
    return end;
  }

  boolean isComplete() {
    return cache.length() == end;
  }

  /** Returns whether the step has as many tokens as a step of a prompt can have. */
  boolean isWhole() {
    return end - begin == Request.PREFILL_STEP && isAtBoundary();
  }

  /** Returns whether it ends at a multiple of a step's length. */
  boolean isAtBoundary() {
    return end == wholeSteps(end);
  }

  /** Returns whether it is a step of the prompt. */
  boolean isOfPrompt() {
    return end <= promptEnd;
  }

  /** Returns whether it ends with the prompt. */
  boolean endsPrompt() {
    return end == promptEnd;
  }

  int promptTokens() {
    return promptEnd - promptBegin;
  }

  /** Returns the tokens of the prompt that have been read. */
  int promptTokensRead() {
    return Math.min(cache.length(), promptEnd) - promptBegin;
  }
}
