package dev.kvasir.lab.claim;

import java.util.List;

/** The verdict on a claim. */
public enum Verdict {
  HOLDS("holds", "hold"),
  FAILS("fails", "fail"),
  /** The interval has the claim's bound in it. */
  OPEN("within error", "are within sampling error"),
  /** A single figure without an interval decides nothing. */
  POINT("no interval", "have a figure without an interval"),
  NOT_TRIED("not tried", "are not tried");

  /** From the strongest support of a claim to none. */
  private static final List<Verdict> SUPPORT = List.of(HOLDS, OPEN, POINT, FAILS, NOT_TRIED);

  private final String label;
  private final String pluralLabel;

  Verdict(String words, String ofSeveral) {
    this.label = words;
    this.pluralLabel = ofSeveral;
  }

  /** Returns the verdict on two parts of a claim: that of the part which supports it less. */
  Verdict and(Verdict other) {
    return SUPPORT.indexOf(this) >= SUPPORT.indexOf(other) ? this : other;
  }

  public String label() {
    return label;
  }

  /** Returns the label after a number of claims. */
  public String pluralLabel() {
    return pluralLabel;
  }
}
