package dev.kvasir.lab.claim;

/** What became of a claim. */
public enum Verdict {
  HOLDS("holds", "hold"),
  FAILS("fails", "fail"),
  /** The difference that is claimed is smaller than what chance makes. */
  OPEN("within sampling error", "are within sampling error"),
  NOT_TRIED("not tried", "are not tried");

  private final String label;
  private final String pluralLabel;

  Verdict(String words, String ofSeveral) {
    this.label = words;
    this.pluralLabel = ofSeveral;
  }

  public String label() {
    return label;
  }

  /** The words behind a number of claims. */
  public String pluralLabel() {
    return pluralLabel;
  }
}
