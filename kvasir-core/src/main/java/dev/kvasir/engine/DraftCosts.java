package dev.kvasir.engine;

/** Decides how many tokens of a draft are worth their rows in a request's next step. */
public interface DraftCosts {
  /**
   * Returns the number of tokens with the most generated tokens per second.
   *
   * @param chances (count) for each token, the chance that it and all before it are accepted
   * @param draftNanos time to draft one token; 0 if drafting costs nothing
   * @return 0 if none is worth its time
   */
  int choose(double[] chances, int count, double draftNanos);
}
