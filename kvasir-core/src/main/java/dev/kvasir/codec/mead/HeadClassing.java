package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import java.util.Arrays;

/**
 * Puts the tokens of a page in classes, for one head, and says how much each counts in the mean
 * error of components: as much as attention is likely to weigh it, which is what it has received.
 */
final class HeadClassing {
  private static final int TOKENS = Page.TOKENS;

  /** Attention and rank of a token that is not coded. */
  private static final int NONE = -1;

  private final MeadSizes sizes;
  private final Classing classing;
  private final TokenRanks ranks = new TokenRanks();
  private final double[] attention = new double[TOKENS];
  private final double[] keyEnergies = new double[TOKENS];
  private final double[] valueEnergies = new double[TOKENS];
  private final int[] parts = new int[TOKENS];
  private final float[] alike = new float[Side.COUNT * HeadProfile.RANKS];
  private final float[] ones;

  HeadClassing(MeadSizes sizes, Classing classing) {
    this.sizes = sizes;
    this.classing = classing;
    this.ones = new float[sizes.valueWidth()];
    Arrays.fill(alike, 1);
    Arrays.fill(ones, 1);
  }

  /**
   * @param tokens what tables left of them; their order and shares are set
   * @param received attention of each token
   * @param isExact whether a token is kept beside its code, which then counts for nothing
   */
  void classify(HeadTables head, HeadTokens tokens, int[] received, boolean[] isExact) {
    for (int token = 0; token < TOKENS; token++) {
      attention[token] = isExact[token] ? NONE : received[token];
    }
    byte[] ranked = ranks.descending(attention);
    for (int rank = 0; rank < TOKENS; rank++) {
      int token = ranked[rank];
      parts[token] = isExact[token] ? NONE : rank * HeadProfile.RANKS / TOKENS;
    }
    for (int token = 0; token < TOKENS; token++) {
      keyEnergies[token] = energy(tokens.keys, token, sizes.keyWidth(), head.keyWeights());
      valueEnergies[token] = energy(tokens.components, token, sizes.valueWidth(), ones);
    }
    float[] importance = classing == Classing.ATTENTION ? head.importance() : alike;
    new TokenClassing(importance).order(keyEnergies, valueEnergies, parts, tokens.order);
    share(received, isExact, tokens.shares);
  }

  private static double energy(float[] x, int token, int width, float[] weights) {
    double sum = 0;
    for (int i = 0; i < width; i++) {
      double weighed = (double) x[token * width + i] * weights[i];
      sum += weighed * weighed;
    }
    return sum;
  }

  private static void share(int[] received, boolean[] isExact, double[] shares) {
    double inAll = 0;
    for (int token = 0; token < TOKENS; token++) {
      inAll += isExact[token] ? 0 : received[token];
    }
    if (inAll == 0) {
      shareEvenly(isExact, shares);
      return;
    }
    for (int token = 0; token < TOKENS; token++) {
      shares[token] = isExact[token] ? 0 : received[token] / inAll;
    }
  }

  /** Where it is not known what tokens have received. */
  static void shareEvenly(boolean[] isExact, double[] shares) {
    int coded = TOKENS;
    for (boolean exact : isExact) {
      coded -= exact ? 1 : 0;
    }
    for (int token = 0; token < TOKENS; token++) {
      shares[token] = isExact[token] ? 0 : 1.0 / coded;
    }
  }
}
