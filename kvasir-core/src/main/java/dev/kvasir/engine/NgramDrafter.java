package dev.kvasir.engine;

/**
 * Proposes what followed the last tokens when they occurred before, in the prompt or in the answer.
 * That is often right where a model repeats what it was given: edited code, summaries, quotes.
 *
 * <pre>
 * text:   a b c d e ... a b c
 *               ^ next          the match is 3 tokens long; d is predicted
 * </pre>
 *
 * It predicts every token, verified or not, so learning how often it is right costs nothing.
 */
public final class NgramDrafter implements Drafter {
  /** Usual acceptance rates of matches of 1, 2, 4, 8, 16 and 32 tokens or more. */
  private static final double[] USUAL_RATES = {0.4, 0.25, 0.5, 0.75, 0.85, 0.92};

  /** A match of this length is resumed after a token that differs, such as another name. */
  private static final int MIN_RESUMED = 4;

  /** The length that a resumed match counts as; others have at least two tokens. */
  private static final int RESUMED = 1;

  private final AcceptanceRates rates = new AcceptanceRates(USUAL_RATES);
  private final NgramIndex index = new NgramIndex();
  private final double[] chances = new double[MAX_TOKENS];
  private int next; // position of the predicted token; 0 for no prediction
  private int matched; // tokens before it that match the end of the text

  @Override
  public void begin(int[] text, int length) {
    index.clear();
    next = 0;
    for (int i = 0; i < length; i++) {
      index.append(text[i]);
      if (i < length - 1) {
        index.indexEnd();
      }
    }
    findMatch();
    index.indexEnd();
  }

  @Override
  public void append(int token) {
    int resumed = 0;
    if (next > 0) {
      boolean right = index.token(next) == token;
      rates.record(kind(matched), right);
      resumed = !right && matched >= MIN_RESUMED ? next + 1 : 0;
      next = right ? next + 1 : 0;
      matched++;
    }
    index.append(token);
    if (next == 0 || matched < NgramIndex.MAX_INDEXED) {
      findMatch();
    }
    if (next == 0 && resumed > 0) {
      next = resumed;
      matched = RESUMED;
    }
    index.indexEnd();
  }

  /** Takes the longest indexed match, unless the current one is longer. */
  private void findMatch() {
    int found = index.findMatch();
    int length = found == 0 ? 0 : index.matchLength(found);
    if (next == 0 || length > matched) {
      next = found;
      matched = length;
    }
  }

  /** Returns the class of a match: the logarithm of its length. */
  private static int kind(int length) {
    int log = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(length);
    return Math.min(log, USUAL_RATES.length - 1);
  }

  @Override
  public int draft(DraftCosts costs, int max, int[] out) {
    if (next == 0) {
      return 0;
    }
    int count = Math.min(max, MAX_TOKENS);
    double chance = 1;
    for (int i = 0; i < count; i++) {
      int from = next + i;
      boolean isInText = from < index.length();
      out[i] = isInText ? index.token(from) : out[from - index.length()]; // a loop goes on
      chance *= rates.rate(kind(matched + i));
      chances[i] = chance;
    }
    return costs.choose(chances, count, 0);
  }
}
