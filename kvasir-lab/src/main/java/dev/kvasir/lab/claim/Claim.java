package dev.kvasir.lab.claim;

import dev.kvasir.lab.claim.Trial.Form;
import java.util.List;
import java.util.stream.Stream;

/**
 * A claim of a paper that can be tested.
 *
 * @param section where the paper makes it
 * @param statement the claim in our words
 * @param published the paper's own figures, in a few words
 * @param trials the tests, those in the paper's form first
 * @param remark what a reader must know to understand the verdicts; may be empty
 */
public record Claim(
    Paper paper,
    String section,
    String statement,
    String published,
    List<Trial> trials,
    String remark) {

  Claim paperForm(String conditions, Experiment experiment, Check check) {
    return with(new Trial(Form.PAPER, conditions, experiment, check));
  }

  Claim equalTerms(Experiment experiment, Check check) {
    return with(new Trial(Form.EQUAL, "", experiment, check));
  }

  Claim equalTerms(String conditions, Experiment experiment, Check check) {
    return with(new Trial(Form.EQUAL, conditions, experiment, check));
  }

  Claim remark(String value) {
    return new Claim(paper, section, statement, published, trials, value);
  }

  private Claim with(Trial trial) {
    List<Trial> all = Stream.concat(trials.stream(), Stream.of(trial)).toList();
    return new Claim(paper, section, statement, published, all, remark);
  }
}
