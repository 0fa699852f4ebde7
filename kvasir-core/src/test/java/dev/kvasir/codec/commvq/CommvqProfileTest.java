package dev.kvasir.codec.commvq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.page.StageCodes;
import dev.kvasir.profile.Profile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CommvqProfileTest {
  private static final CacheShape SHAPE = new CacheShape(2, 4, 24);

  @ParameterizedTest
  @CsvSource({"1, 64", "2, 64", "4, 64", "2, 32", "4, 16"})
  void storedShapesDecideThePageLayout(int valueHeads, int rows) {
    Profile profile = SyntheticCodebooks.grouped(SHAPE, valueHeads, rows, 1);
    int indexBits = Integer.numberOfTrailingZeros(rows);
    int stages = CommvqProfile.stages(1, 24, rows);
    CommvqShape pages = CommvqProfile.shape(profile, 1, SHAPE);
    assertThat(pages)
        .isEqualTo(
            new CommvqShape(
                4,
                24,
                new StageCodes(stages, indexBits),
                24,
                valueHeads,
                new StageCodes(valueHeads * stages, indexBits)));
    LayerCodebooks layer = CommvqProfile.of(profile, 1, SHAPE).layers().get(1);
    assertThat(layer.shape()).isEqualTo(pages);
    assertThat(layer.values()).hasSize(4 / valueHeads);
  }

  @Test
  void codebooksSurviveTheProfile() {
    Profile profile = SyntheticCodebooks.grouped(SHAPE, 2, 16, 1);
    CommvqProfile once = CommvqProfile.of(profile, 1, SHAPE);
    CommvqProfile twice = CommvqProfile.of(once.addTo(Profile.empty("made up")), 1, SHAPE);
    for (int layer = 0; layer < 2; layer++) {
      LayerCodebooks one = once.layers().get(layer);
      LayerCodebooks two = twice.layers().get(layer);
      for (int head = 0; head < 4; head++) {
        assertThat(two.keys().get(head).mean()).isEqualTo(one.keys().get(head).mean());
        assertThat(two.keys().get(head).numbers()).isEqualTo(one.keys().get(head).numbers());
      }
      for (int group = 0; group < 2; group++) {
        assertThat(two.values().get(group).mean()).isEqualTo(one.values().get(group).mean());
        assertThat(two.values().get(group).stages().rows())
            .isEqualTo(one.values().get(group).stages().rows());
      }
    }
  }

  @Test
  void groupsThatDoNotDivideTheHeadsAreRejected() {
    Profile profile = SyntheticCodebooks.grouped(new CacheShape(2, 3, 24), 3, 64, 1);
    assertThatThrownBy(() -> CommvqProfile.shape(profile, 1, SHAPE))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("'commvq:1/keys' has shape");
  }

  @Test
  void defaultGroupsStayWithin256Channels() {
    assertThat(CommvqShape.defaultValueHeads(2, 64)).isEqualTo(2);
    assertThat(CommvqShape.defaultValueHeads(4, 64)).isEqualTo(4);
    assertThat(CommvqShape.defaultValueHeads(8, 128)).isEqualTo(2);
    assertThat(CommvqShape.defaultValueHeads(3, 128)).isEqualTo(1);
    assertThat(CommvqShape.defaultValueHeads(1, 512)).isEqualTo(1);
  }
}
