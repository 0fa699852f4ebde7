package dev.kvasir.lab.claim;

/** The verdict on a claim. */
public enum Verdict {
  HOLDS("holds", "hold"),
  FAILS("fails", "fail"),
  /** The claimed difference is within sampling error. */
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

  /** Returns the label after a number of claims. */
  public String pluralLabel() {
    return pluralLabel;
  }
}
