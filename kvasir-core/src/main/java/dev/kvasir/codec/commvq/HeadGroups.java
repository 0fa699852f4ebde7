package dev.kvasir.codec.commvq;

/**
 * Rearranges the vectors of KV heads to those of groups of adjacent heads, and back. The vector of
 * a group is the concatenation of its heads' vectors.
 *
 * @param heads KV heads of a group
 * @param groups number of groups
 * @param headDim channels of a head
 */
public record HeadGroups(int heads, int groups, int headDim) {
  /**
   * Concatenates the heads of the tokens from {@code from} to {@code end}.
   *
   * @param x (groups * heads, tokens, headDim)
   * @param out (groups, tokens, heads * headDim), set
   */
  public void join(float[] x, int tokens, int from, int end, float[] out) {
    for (int head = 0; head < groups * heads; head++) {
      for (int token = from; token < end; token++) {
        System.arraycopy(
            x, (head * tokens + token) * headDim, out, at(head, tokens, token), headDim);
      }
    }
  }

  /**
   * Undoes {@link #join} for all tokens.
   *
   * @param x (groups, tokens, heads * headDim)
   * @param out (groups * heads, tokens, headDim), set
   */
  public void split(float[] x, int tokens, float[] out) {
    for (int head = 0; head < groups * heads; head++) {
      for (int token = 0; token < tokens; token++) {
        System.arraycopy(
            x, at(head, tokens, token), out, (head * tokens + token) * headDim, headDim);
      }
    }
  }

  private int at(int head, int tokens, int token) {
    return ((head / heads * tokens + token) * heads + head % heads) * headDim;
  }
}
