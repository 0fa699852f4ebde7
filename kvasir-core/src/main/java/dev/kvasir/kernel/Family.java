package dev.kvasir.kernel;

/** The families of {@link Kernels}, in the words that people read; products matter most. */
public enum Family {
  BYTES("products with weights of bytes"),
  NIBBLES("products with weights of nibbles"),
  FLOATS("products and sums of floats"),
  ROWS("norms and exponentials"),
  HALVES("rows of halves and weights of floats"),
  DOTS("attention on packed bits"),
  PATTERNS("patterns that turn"),
  CODEBOOKS("sums of codebook rows"),
  ROW_CODES("rows of codes of many widths");

  private final String words;

  Family(String words) {
    this.words = words;
  }

  public String words() {
    return words;
  }
}
