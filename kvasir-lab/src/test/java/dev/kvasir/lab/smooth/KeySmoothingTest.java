package dev.kvasir.lab.smooth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.lab.gradient.DecoderRunner;
import dev.kvasir.lab.gradient.LayerVectors;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.lab.gradient.TinyDecoder;
import dev.kvasir.lab.gradient.TinyDecoder.Choices;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.lab.smooth.KeySmoothing.LayerResult;
import dev.kvasir.model.RopeLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class KeySmoothingTest {
  private static final int ROTATED = 8;
  private static final int HEAD_DIM = 12;
  private static final SmoothingSettings SETTINGS =
      new SmoothingSettings(1, 4, 30, FactorSharing.TIED);
  private static final List<Integer> BITS = List.of(2, 4, 8);

  private final WorkerPool workers = new WorkerPool(1);
  private final CalibrationTexts texts = new CalibrationTexts(List.of(text(1, 40), text(2, 40)));

  @AfterEach
  void close() {
    workers.close();
  }

  private static int[] text(long seed, int length) {
    return new Random(seed).ints(length, 0, 50).toArray();
  }

  /** Biases create one outlier channel pair in every layer, as in Qwen models. */
  private TracedDecoder decoder(RopeLayout layout) {
    TinyDecoder tiny =
        TinyDecoder.of(
            new Choices(4, 2, HEAD_DIM, ROTATED, layout, true, false, Integer.MAX_VALUE, false), 9);
    tiny.weights().layers().forEach(layer -> layer.multiHead().key().bias()[2] = 25);
    return new TracedDecoder(tiny.config(), tiny.weights(), 4, new ScalarKernels(), workers);
  }

  private KeySmoothing search(TracedDecoder decoder) {
    return search(decoder, SETTINGS, ProgressListener.NONE).orElseThrow();
  }

  private Optional<KeySmoothing> search(
      TracedDecoder decoder, SmoothingSettings settings, ProgressListener listener) {
    return KeySmoothing.search(
        new DecoderRunner(decoder), decoder.config(), texts, 1, BITS, settings, listener);
  }

  @ParameterizedTest
  @EnumSource
  void factorsArePairMaximaToThePowerOfTheStrength(RopeLayout layout) {
    TracedDecoder decoder = decoder(layout);
    KeySmoothing smoothing = search(decoder);
    float[][][] reach = reach(decoder);
    for (int layer = 0; layer < 3; layer++) {
      double strength = smoothing.layers().get(layer).strength();
      assertThat(strength).isBetween(0.05, 1.0);
      for (int head = 0; head < 2; head++) {
        for (int channel = 0; channel < HEAD_DIM; channel++) {
          int partner = partner(layout, channel);
          double most = Math.max(reach[layer][head][channel], reach[layer][head][partner]);
          assertThat((double) smoothing.factors()[layer][head][channel])
              .isCloseTo(Math.pow(most, strength), within(1e-4 * most));
          assertThat(smoothing.factors()[layer][head][channel])
              .isEqualTo(smoothing.factors()[layer][head][partner]);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void factorsCanBePerChannel(RopeLayout layout) {
    TracedDecoder decoder = decoder(layout);
    SmoothingSettings own = SETTINGS.withSharing(FactorSharing.OWN);
    KeySmoothing smoothing = search(decoder, own, ProgressListener.NONE).orElseThrow();
    float[][][] reach = reach(decoder);
    for (int head = 0; head < 2; head++) {
      for (int channel = 0; channel < HEAD_DIM; channel++) {
        double most = reach[1][head][channel];
        assertThat((double) smoothing.factors()[1][head][channel])
            .isCloseTo(Math.pow(most, smoothing.layers().get(1).strength()), within(1e-4 * most));
      }
    }
  }

  private static int partner(RopeLayout layout, int channel) {
    if (channel >= ROTATED) {
      return channel;
    }
    if (layout == RopeLayout.HALVES) {
      return channel < ROTATED / 2 ? channel + ROTATED / 2 : channel - ROTATED / 2;
    }
    return channel % 2 == 0 ? channel + 1 : channel - 1;
  }

  private float[][][] reach(TracedDecoder decoder) {
    float[][][] reach = new float[3][2][HEAD_DIM];
    TextVisitor visitor =
        new TextVisitor() {
          @Override
          public boolean forward(LayerVectors vectors) {
            for (int i = 2 * HEAD_DIM; i < vectors.keys().length; i++) {
              float[] head = reach[vectors.layer()][i / HEAD_DIM % 2];
              head[i % HEAD_DIM] = Math.max(head[i % HEAD_DIM], Math.abs(vectors.keys()[i]));
            }
            return true;
          }
        };
    texts.samples().forEach(sample -> decoder.forward(sample, visitor));
    return reach;
  }

  @ParameterizedTest
  @EnumSource
  void outlierChannelsAreSmoothed(RopeLayout layout) {
    for (LayerResult trial : search(decoder(layout)).layers()) {
      assertThat(trial.error()).isLessThan(0.8 * trial.plainError());
    }
  }

  @Test
  void widerCodesHaveSmallerErrors() {
    List<LayerResult> layers = search(decoder(RopeLayout.HALVES)).layers();
    assertThat(layers).extracting(LayerResult::bits).isEqualTo(BITS);
    assertThat(layers.get(1).error()).isLessThan(layers.get(0).error() / 2);
    assertThat(layers.get(2).error()).isLessThan(layers.get(1).error() / 4);
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
            return reported.size() == 8;
          }
        };
    TracedDecoder decoder = decoder(RopeLayout.HALVES);
    assertThat(search(decoder, SETTINGS, listener)).isEmpty();
    assertThat(reported).isSorted().hasSize(8);
    reported.clear();
    ProgressListener patient = (done, total) -> reported.add(done / total);
    assertThat(search(decoder, SETTINGS, patient)).isPresent();
    assertThat(reported).isSorted().hasSize(2 * 2 * 3).endsWith(1.0);
  }

  @Test
  void tooShortSamplesAreRejected() {
    assertThatThrownBy(
            () ->
                search(
                    decoder(RopeLayout.HALVES),
                    SmoothingSettings.defaults(),
                    ProgressListener.NONE))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "the length of samples is 40; expected more than 129, the tokens that are"
                + " never quantized");
  }
}
