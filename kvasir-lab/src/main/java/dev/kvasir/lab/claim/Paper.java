package dev.kvasir.lab.claim;

/** The papers whose claims are tested. */
public enum Paper {
  PATTERNKV("PatternKV"),
  PMKVQ("PM-KVQ"),
  MIXKVQ("MixKVQ"),
  COMMVQ("CommVQ");

  private final String title;

  Paper(String title) {
    this.title = title;
  }

  public String title() {
    return title;
  }
}
