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

  /** Returns a claim of this paper; it holds here, as far as known. */
  Claim claim(String section, String statement, Experiment experiment, Check check) {
    return claim(section, statement, experiment, check, "");
  }

  Claim claim(
      String section, String statement, Experiment experiment, Check check, String failureReason) {
    return new Claim(this, section, statement, experiment, check, failureReason);
  }
}
