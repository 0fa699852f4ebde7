package dev.kvasir.lab.mead;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.gradient.LayerVectors;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.lab.gradient.TinyDecoder;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.lab.work.OrderedDelivery;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MeadTasksTest {
  private static final int LENGTH = 300;

  private final WorkerPool workers = new WorkerPool(1);
  private final TinyDecoder tiny = TinyDecoder.of(TinyDecoder.Choices.plain(), 3);
  private final TracedDecoder decoder =
      new TracedDecoder(tiny.config(), tiny.weights(), 1, new ScalarKernels(), workers);
  private final List<int[]> texts = List.of(text(1), text(2));

  @AfterEach
  void close() {
    workers.close();
  }

  private static int[] text(long seed) {
    return new Random(seed).ints(LENGTH, 0, 50).toArray();
  }

  @Test
  void tokenStatisticsAreSummedOverTexts() {
    TokenKvLayout layout = new TokenKvLayout(decoder);
    int layers = tiny.config().layers();
    int id = texts.get(0)[100];
    int[] frequencies = new int[50];
    frequencies[id] = 1;
    TableRows rows = TableRows.mostFrequent(frequencies, 1); // no row for any other id
    TokenSums sums = new TokenSums(layout, layers, rows, tiny.config().hidden());
    double[] expected = new double[layout.width()]; // of one id in the last layer
    double[] all = new double[layout.width()]; // of all ids in the last layer
    for (int[] text : texts) {
      sums.add(new TextReadingTask(0, text, true, true, false).run(decoder, ProgressListener.NONE));
      decoder.forward(
          text,
          new TextVisitor() {
            @Override
            public boolean forward(LayerVectors seen) {
              float[] joined = layout.joined(seen.layer(), seen.keys(), seen.values());
              for (int token = PageRanks.SINKS; token < LENGTH; token++) {
                for (int i = 0; i < expected.length; i++) {
                  double value =
                      seen.layer() == layers - 1 ? joined[token * expected.length + i] : 0;
                  all[i] += value;
                  expected[i] += text[token] == id ? value : 0;
                }
              }
              return true;
            }
          });
    }
    for (int i = 0; i < expected.length; i++) {
      assertThat((double) sums.sums(layers - 1)[i]).isCloseTo(expected[i], within(1e-4));
      assertThat((double) sums.mean(layers - 1)[i]).isCloseTo(all[i] / sums.tokens(), within(1e-5));
    }
    assertThat(sums.sums(layers - 1)).hasSize(expected.length);
    assertThat(sums.tokens()).isEqualTo(2 * (LENGTH - PageRanks.SINKS));
  }

  @Test
  void serializedTasksGiveTheSameResult() throws Exception {
    TextReadingTask reading = new TextReadingTask(0, texts.getFirst(), false, false, true);
    TextStatistics here = reading.run(decoder, ProgressListener.NONE);
    TextStatistics there = sent(sent(reading).run(decoder, ProgressListener.NONE));
    assertThat(there.vectors()).isDeepEqualTo(here.vectors());
    assertThat(there.attentionMass()).isDeepEqualTo(here.attentionMass());

    boolean[] answers = new boolean[LENGTH];
    answers[290] = true;
    TextMetricTask metric = new TextMetricTask(0, new MarkedText(texts.getFirst(), answers), 1);
    assertThat(metric.name()).isEqualTo("text 1, lookups");
    assertThat(sent(metric).run(decoder, ProgressListener.NONE))
        .isEqualTo(metric.run(decoder, ProgressListener.NONE));
  }

  @SuppressWarnings("unchecked")
  private static <T extends Serializable> T sent(T object)
      throws IOException, ClassNotFoundException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(object);
    }
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      return (T) in.readObject();
    }
  }

  @Test
  void resultsAreDeliveredInTaskOrder() {
    List<String> taken = new ArrayList<>();
    OrderedDelivery<String> order =
        new OrderedDelivery<>((result, index) -> taken.add(index + result));
    order.take(2, "c");
    order.take(0, "a");
    assertThat(taken).containsExactly("0a");
    order.take(1, "b");
    assertThat(taken).containsExactly("0a", "1b", "2c");
  }
}
