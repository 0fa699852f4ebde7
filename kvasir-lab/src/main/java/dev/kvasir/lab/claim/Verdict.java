package dev.kvasir.lab.claim;

/** What became of a claim. */
public enum Verdict {
  HOLDS("holds", "hold"),
  FAILS("fails", "fail"),
  /** The difference that is claimed is smaller than what chance makes. */
  OPEN("within sampling error", "are within sampling error"),
  NOT_TRIED("not tried", "are not tried");

  private final String words;
  private final String ofSeveral;

  Verdict(String words, String ofSeveral) {
    this.words = words;
    this.ofSeveral = ofSeveral;
  }

  public String words() {
    return words;
  }

  /** The words behind a number of claims. */
  public String ofSeveral() {
    return ofSeveral;
  }
}
