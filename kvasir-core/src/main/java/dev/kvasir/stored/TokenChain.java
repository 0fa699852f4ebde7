package dev.kvasir.stored;

/** A hash chain over all tokens of a text: equal hashes mean equal prefixes. */
public final class TokenChain {
  private TokenChain() {}

  /** Returns the hash before the first token. */
  public static byte[] begin(Identity identity) {
    return identity.digest();
  }

  /** Returns the hash after some more tokens. */
  public static byte[] next(byte[] before, int[] tokens, int from, int to) {
    return new Sha256().add(before).add(tokens, from, to).finish();
  }
}
