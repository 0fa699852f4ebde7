package dev.kvasir.lab.inspect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.text.BundledText;
import dev.kvasir.runtime.LoadedModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class KeyRangesTest {
  private static LoadedModel model;

  @BeforeAll
  static void load() {
    model = LoadedModel.bundled();
  }

  @AfterAll
  static void close() {
    model.close();
  }

  private static KeyRanges measure(int tokens) {
    return KeyRanges.measure(model, BundledText.stream(), tokens, (done, total) -> {}).get();
  }

  @Test
  void everyChannelOfEveryHeadHasARange() {
    KeyRanges ranges = measure(200);
    CacheShape shape = model.config().cacheShape();
    assertThat(ranges.tokens()).isEqualTo(200);
    assertThat(ranges.ranges()).hasDimensions(shape.layers(), shape.kvHeads());
    for (float[][] layer : ranges.ranges()) {
      for (float[] head : layer) {
        assertThat(head).hasSize(shape.headDim());
        for (float range : head) {
          assertThat(range).isPositive().isFinite();
        }
      }
    }
  }

  @Test
  void rangesGrowWithTheText() {
    float[][][] one = measure(1).ranges();
    float[][][] some = measure(128).ranges();
    float[][][] more = measure(129).ranges();
    for (int layer = 0; layer < one.length; layer++) {
      for (int head = 0; head < one[layer].length; head++) {
        for (int channel = 0; channel < one[layer][head].length; channel++) {
          assertThat(one[layer][head][channel]).isZero();
          assertThat(more[layer][head][channel]).isGreaterThanOrEqualTo(some[layer][head][channel]);
        }
      }
    }
  }

  @Test
  void progressIsReportedAndCancellingLeavesNoResult() {
    List<Double> reported = new ArrayList<>();
    ProgressListener listener =
        new ProgressListener() {
          @Override
          public void progress(double done, double total) {
            reported.add(done / total);
          }

          @Override
          public boolean isCancelled() {
            return reported.size() == 2;
          }
        };
    assertThat(KeyRanges.measure(model, BundledText.stream(), 512, listener))
        .isEqualTo(Optional.empty());
    assertThat(reported).containsExactly(0.25, 0.5);
  }
}
