package dev.kvasir.lab.claim;

import java.util.List;

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

  /** Returns a claim of this paper, without a trial. */
  Claim claim(String section, String statement, String published) {
    return new Claim(this, section, statement, published, List.of(), "");
  }
}
