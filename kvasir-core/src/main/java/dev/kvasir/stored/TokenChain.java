package dev.kvasir.stored;

/** Hashes over all tokens from the first on: what is alike has the same hash, and nothing else. */
public final class TokenChain {
  private TokenChain() {}

  /** Before the first token. */
  public static byte[] begin(Identity identity) {
    return identity.digest();
  }

  /** After some more tokens. */
  public static byte[] next(byte[] before, int[] tokens, int from, int to) {
    return new Sha256().add(before).add(tokens, from, to).finish();
  }
}
