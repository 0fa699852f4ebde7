package dev.kvasir.codec.basis;

/** The basis that vectors come in. */
public record AsIs() implements HeadBasis {
  @Override
  public void change(int kvHead, float[] x, int at, int rows) {}

  @Override
  public void restore(int kvHead, float[] x, int at, int rows) {}

  @Override
  public int fingerprint() {
    return 0;
  }
}
