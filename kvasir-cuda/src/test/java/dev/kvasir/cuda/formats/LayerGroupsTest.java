package dev.kvasir.cuda.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class LayerGroupsTest {
  @Test
  void layersOfAGroupHaveConsecutivePlaces() {
    LayerGroups groups = LayerGroups.of(new int[] {4, 2, 2, 4, 8});
    assertThat(groups.count()).isEqualTo(3);
    assertThat(groups.order()).containsExactly(0, 3, 1, 2, 4);
    assertThat(groups.firstLayers()).containsExactly(0, 1, 4);
    assertThat(groups.group(3)).isZero();
    assertThat(groups.layers(1)).isEqualTo(2);
    assertThat(groups.base(2)).isEqualTo(4);
    for (int place = 0; place < 5; place++) {
      int layer = groups.order()[place];
      assertThat(groups.place(layer)).isEqualTo(place);
      assertThat(groups.base(groups.group(layer)) + groups.index(layer)).isEqualTo(place);
    }
  }

  @Test
  void equalFloorsAreOneGroup() {
    LayerGroups groups = LayerGroups.single(3);
    assertThat(groups.count()).isOne();
    assertThat(groups.order()).containsExactly(0, 1, 2);
  }

  @Test
  void aTableHasThreeGroupsAtMost() {
    assertThatThrownBy(() -> LayerGroups.of(new int[] {2, 4, 8, 16}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("floors are [2, 4, 8, 16]; expected at most 3 different ones");
  }
}
