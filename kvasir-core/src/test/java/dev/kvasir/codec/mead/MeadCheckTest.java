package dev.kvasir.codec.mead;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.profile.Profile;
import java.util.List;
import org.junit.jupiter.api.Test;

class MeadCheckTest {
  private static final MeadCheck CHECK =
      new MeadCheck(
          List.of(
              new MeadCheck.Result(2.5, 40, 40, 0.985),
              new MeadCheck.Result(2, 40, 37, 0.97),
              new MeadCheck.Result(1.5, 40, 20, 0.95)));

  @Test
  void comesBackFromAProfile() {
    Profile profile =
        Profile.empty("abc")
            .with("mead:off/numbers", new float[] {1}, 1)
            .withNote(Profile.checkNote("mead:off"), CHECK.text());
    assertThat(MeadCheck.of(profile)).hasValue(CHECK);
    assertThat(MeadCheck.of(Profile.empty("abc"))).isEmpty();
  }

  /** Its caches had more bytes, so a good result says nothing of the caches of today. */
  @Test
  void ofAnEarlierVersionOnlyBadResultsCount() {
    String note =
        "mead:2 keeps 40 of 40 answers and 97.0% of next tokens;"
            + " mead:1.5 keeps 20 of 40 answers and 95.0% of next tokens";
    Profile profile =
        Profile.empty("abc")
            .with("mead:off/numbers", new float[] {1}, 1)
            .withNote(Profile.checkNote("mead:off"), note);
    assertThat(MeadCheck.of(profile))
        .hasValue(new MeadCheck(List.of(new MeadCheck.Result(1.5, 40, 20, 0.95))));
    assertThat(MeadCheck.shown(note)).startsWith(note + "; by an earlier version");
    assertThat(MeadCheck.shown(CHECK.text())).isEqualTo(CHECK.text());
  }

  @Test
  void saysWhatTheProfileIsGoodFor() {
    assertThat(CHECK.verdict()).isEqualTo("good for questions from mead:2 on");
    assertThat(one(40, 20).verdict()).startsWith("not good for questions");
    assertThat(one(3, 0).verdict()).contains("too few");
  }

  @Test
  void warnsOfBitsThatLostAnswers() {
    assertThat(CHECK.warning(2)).isEmpty();
    assertThat(CHECK.warning(1.5).orElseThrow()).contains("mead:1.5 kept 20 of 40 answers");
    assertThat(CHECK.warning(1)).isPresent();
    assertThat(one(3, 0).warning(1)).isEmpty();
  }

  private static MeadCheck one(int questions, int kept) {
    return new MeadCheck(List.of(new MeadCheck.Result(2, questions, kept, 1)));
  }
}
