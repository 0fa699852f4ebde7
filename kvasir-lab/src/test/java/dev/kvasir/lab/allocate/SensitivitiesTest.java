package dev.kvasir.lab.allocate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import dev.kvasir.codec.pmkvq.KeyScaleAxis;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.lab.calibrate.PerTokenQuantizer;
import dev.kvasir.lab.gradient.DecoderRunner;
import dev.kvasir.lab.gradient.LayerGradients;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.lab.gradient.TinyDecoder;
import dev.kvasir.lab.gradient.TracedDecoder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SensitivitiesTest {
  private final WorkerPool workers = new WorkerPool(2);
  private final TinyDecoder tiny = TinyDecoder.of(TinyDecoder.Choices.plain(), 3);
  private final TracedDecoder decoder =
      new TracedDecoder(tiny.config(), tiny.weights(), 1, new ScalarKernels(), workers);
  private final CalibrationTexts texts =
      new CalibrationTexts(List.of(text(1, 20), text(2, 20), text(3, 20)));

  @AfterEach
  void close() {
    workers.close();
  }

  private static int[] text(long seed, int length) {
    return new Random(seed).ints(length, 0, 50).toArray();
  }

  private Sensitivities measure(int firstTokens) {
    return measure(firstTokens, KeyScaleAxis.TOKEN);
  }

  private Sensitivities measure(int firstTokens, KeyScaleAxis keyScales) {
    SensitivitySettings settings =
        new SensitivitySettings(List.of(2, 4, 8, 16), firstTokens, keyScales);
    return Sensitivities.measure(runner(), texts, settings, ProgressListener.NONE).orElseThrow();
  }

  private DecoderRunner runner() {
    return new DecoderRunner(decoder);
  }

  @Test
  void sensitivityIsSumOfGradientTimesError() {
    double[] expected = new double[2]; // of keys and values
    TextVisitor visitor =
        new TextVisitor() {
          @Override
          public boolean backward(LayerGradients gradients) {
            if (gradients.layer() == 1) {
              expected[0] += lost(gradients.keys(), gradients.keyGradients()) / 3;
              expected[1] += lost(gradients.values(), gradients.valueGradients()) / 3;
            }
            return true;
          }
        };
    double loss = 0;
    for (int[] sample : texts.samples()) {
      loss += decoder.gradients(sample, visitor).orElseThrow() / 3;
    }
    Sensitivities found = measure(0);
    assertThat(found.keys()[1][1]).isCloseTo(expected[0], withinPercentage(1e-4));
    assertThat(found.values()[1][1]).isCloseTo(expected[1], withinPercentage(1e-4));
    assertThat(found.of(1, 4)).isCloseTo(expected[0] + expected[1], withinPercentage(1e-4));
    assertThat(found.loss()).isCloseTo(loss, within(1e-9));
  }

  private double lost(float[] x, float[] gradients) {
    float[] decoded = new float[x.length];
    new PerTokenQuantizer(tiny.config().headDim(), 4)
        .roundTrip(x, 0, x.length / tiny.config().headDim(), decoded, 0);
    double sum = 0;
    for (int i = 0; i < x.length; i++) {
      sum += Math.abs(gradients[i] * (x[i] - decoded[i]));
    }
    return sum;
  }

  /** Twenty tokens form one group, so a channel's range covers all tokens that count. */
  @Test
  void perChannelKeyErrorFollowsChannelRange() {
    double[] expected = new double[1];
    TextVisitor visitor =
        new TextVisitor() {
          @Override
          public boolean backward(LayerGradients gradients) {
            if (gradients.layer() == 1) {
              expected[0] += lostByChannel(gradients.keys(), gradients.keyGradients()) / 3;
            }
            return true;
          }
        };
    for (int[] sample : texts.samples()) {
      decoder.gradients(sample, visitor);
    }
    Sensitivities byChannel = measure(1, KeyScaleAxis.CHANNEL);
    assertThat(byChannel.keys()[1][1]).isCloseTo(expected[0], withinPercentage(1e-3));
    assertThat(byChannel.values()[1]).containsExactly(measure(1).values()[1]);
  }

  private double lostByChannel(float[] x, float[] gradients) {
    int channels = tiny.config().kvHeads() * tiny.config().headDim();
    double sum = 0;
    for (int channel = 0; channel < channels; channel++) {
      float least = Float.POSITIVE_INFINITY;
      float most = Float.NEGATIVE_INFINITY;
      for (int i = channels + channel; i < x.length; i += channels) {
        least = Math.min(least, x[i]);
        most = Math.max(most, x[i]);
      }
      float step = (most - least) / 15;
      for (int i = channels + channel; i < x.length; i += channels) {
        float decoded = Math.round((x[i] - least) / step) * step + least;
        sum += Math.abs(gradients[i] * (x[i] - decoded));
      }
    }
    return sum;
  }

  @Test
  void widerCodesAreLessSensitiveAndSinksDoNotCount() {
    Sensitivities all = measure(0);
    Sensitivities later = measure(1);
    for (int layer = 0; layer < all.layers(); layer++) {
      assertThat(all.of(layer, 2)).isGreaterThan(2 * all.of(layer, 4));
      assertThat(all.of(layer, 4)).isGreaterThan(8 * all.of(layer, 8));
      assertThat(all.of(layer, 8)).isGreaterThan(100 * all.of(layer, 16));
      assertThat(later.of(layer, 2)).isPositive().isLessThan(all.of(layer, 2));
    }
  }

  @Test
  void progressIsReportedAndCancellingLeavesNoResult() {
    SensitivitySettings ofTwoBits = new SensitivitySettings(List.of(2), 1, KeyScaleAxis.TOKEN);
    List<Double> reported = new ArrayList<>();
    ProgressListener listener = (done, total) -> reported.add(done / total);
    assertThat(Sensitivities.measure(runner(), texts, ofTwoBits, listener)).isPresent();
    assertThat(reported).isSorted().hasSize(3 * 2 * 3).endsWith(1.0);
    ProgressListener stopping =
        new ProgressListener() {
          private int polls;

          @Override
          public void progress(double done, double total) {}

          @Override
          public boolean isCancelled() {
            return ++polls == 4;
          }
        };
    assertThat(Sensitivities.measure(runner(), texts, ofTwoBits, stopping)).isEmpty();
  }

  @Test
  void savedTextsAreNotMeasuredAgain() {
    List<Integer> widths = List.of(2, 4, 8, 16);
    SensitivitySettings settings = new SensitivitySettings(widths, 1, KeyScaleAxis.TOKEN);
    Map<Integer, Sensitivities> saved = new HashMap<>();
    Sensitivities.measure(runner(), texts, settings, Map.of(), saved::put, ProgressListener.NONE);
    assertThat(saved).hasSize(3);
    float[] ofFile = saved.get(1).floats();
    Map<Integer, Sensitivities> known =
        Map.of(1, Sensitivities.of(widths, tiny.config().layers(), ofFile));
    Map<Integer, Sensitivities> further = new HashMap<>();
    Sensitivities resumed =
        Sensitivities.measure(runner(), texts, settings, known, further::put, ProgressListener.NONE)
            .orElseThrow();
    assertThat(further).containsOnlyKeys(0, 2);
    assertThat(resumed.keys()).isDeepEqualTo(measure(1).keys());
    assertThat(resumed.values()).isDeepEqualTo(measure(1).values());
  }
}
