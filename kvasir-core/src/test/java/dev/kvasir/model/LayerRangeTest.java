package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The layers of each of several devices. */
class LayerRangeTest {
  private static List<Integer> counts(int layers, long... weights) {
    return LayerRange.divide(layers, weights).stream().map(LayerRange::count).toList();
  }

  @Test
  void layersFollowTheWeights() {
    assertThat(counts(32, 7)).containsExactly(32);
    assertThat(counts(32, 80, 80)).containsExactly(16, 16);
    assertThat(counts(30, 80, 40)).containsExactly(20, 10);
    assertThat(counts(7, 1, 1, 1)).containsExactly(2, 3, 2);
    assertThat(counts(64, 1L << 40, 1L << 40, 1L << 40, 1L << 40)).containsExactly(16, 16, 16, 16);
  }

  @Test
  void everyRangeHasALayer() {
    assertThat(counts(3, 1, 1000, 1)).containsExactly(1, 1, 1);
    assertThat(counts(4, 1, 1000, 1)).containsExactly(1, 2, 1);
    assertThat(counts(4, 1000, 1)).containsExactly(3, 1);
  }

  @ParameterizedTest
  @CsvSource({"2, 1", "24, 2", "13, 4", "64, 8"})
  void rangesFollowEachOther(int layers, int devices) {
    long[] weights = new long[devices];
    Arrays.setAll(weights, device -> 1 + device);
    List<LayerRange> ranges = LayerRange.divide(layers, weights);
    assertThat(ranges).hasSize(devices);
    assertThat(ranges.getFirst().isFirst()).isTrue();
    assertThat(ranges.getLast().isLast()).isTrue();
    for (int i = 1; i < devices; i++) {
      assertThat(ranges.get(i).first()).isEqualTo(ranges.get(i - 1).end());
      assertThat(ranges.get(i).isFirst()).isFalse();
    }
  }

  @Test
  void moreRangesThanLayersAreRejected() {
    assertThatThrownBy(() -> LayerRange.divide(1, 1, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("2 ranges; expected 1 to 1");
  }

  @Test
  void sharesAreInProportionToLayers() {
    LayerRange range = new LayerRange(4, 10, 24);
    assertThat(range.share(2400)).isEqualTo(1000);
    assertThat(range.share(1)).isEqualTo(1);
    assertThat(LayerRange.whole(24).share(2399)).isEqualTo(2399);
  }
}
