package dev.kvasir.lab.claim;

/** What became of a claim. */
public enum Verdict {
  HOLDS("holds"),
  FAILS("fails"),
  /** The difference that is claimed is smaller than what chance makes. */
  OPEN("within sampling error"),
  NOT_TRIED("not tried");

  private final String words;

  Verdict(String words) {
    this.words = words;
  }

  public String words() {
    return words;
  }
}
