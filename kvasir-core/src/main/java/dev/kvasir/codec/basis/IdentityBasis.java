package dev.kvasir.codec.basis;

/** The basis that leaves vectors unchanged. */
public record IdentityBasis() implements HeadBasis {
  @Override
  public void transform(int kvHead, float[] x, int at, int rows) {}

  @Override
  public void invert(int kvHead, float[] x, int at, int rows) {}

  @Override
  public int fingerprint() {
    return 0;
  }
}
