package dev.kvasir.lab.claim;

/** The verdict on a claim. */
public enum Verdict {
  HOLDS("holds", "hold"),
  FAILS("fails", "fail"),
  /** The interval has the claim's bound in it. */
  OPEN("within error", "are within sampling error"),
  /** A single figure without an interval decides nothing. */
  POINT("no interval", "have a figure without an interval"),
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
