package dev.kvasir.lab.codebook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.codec.commvq.Codebook;
import dev.kvasir.codec.commvq.KeyCodebook;
import dev.kvasir.codec.commvq.ValueCodebook;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.codebook.VectorSample.Side;
import dev.kvasir.lab.work.LocalRunner;
import dev.kvasir.lab.work.WorkerContext;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class CodebookTrainingTest {
  private static final CacheShape SHAPE = new CacheShape(2, 2, 8);
  private static final TrainingSettings SETTINGS = new TrainingSettings(2, 3, 4, 0.05, 0.001, 1, 2);
  private static final CodebookPlan PLAN = CodebookPlan.of(SHAPE, SETTINGS);
  private static final VectorSample SAMPLE = sample(800, 1);

  /** Returns keys and values near three-dimensional planes, far from zero. */
  private static VectorSample sample(int count, long seed) {
    VectorSample sample = VectorSample.zero(SHAPE, count);
    Random directions = new Random(77);
    float[][] basis = new float[4][8];
    for (float[] row : basis) {
      for (int i = 0; i < 8; i++) {
        row[i] = (float) directions.nextGaussian();
      }
    }
    Random random = new Random(seed);
    for (int token = 0; token < count; token++) {
      for (int i = 0; i < 8; i++) {
        sample.put(Side.values()[i / 4], i / 2 % 2, i % 2, token, vector(basis, random), 0);
      }
    }
    return sample;
  }

  private static float[] vector(float[][] basis, Random random) {
    float[] x = new float[8];
    for (int row = 0; row < basis.length; row++) {
      double factor = row == 0 ? 5 : random.nextGaussian();
      for (int i = 0; i < 8; i++) {
        x[i] += (float) (factor * basis[row][i] + 0.01 * random.nextGaussian());
      }
    }
    return x;
  }

  /** Returns the keys of each head, and the values of both heads together, in each layer. */
  private static List<HeadId> books() {
    return Stream.of(0, 1)
        .flatMap(
            layer ->
                Stream.of(
                    new HeadId(Side.KEYS, layer, 0),
                    new HeadId(Side.KEYS, layer, 1),
                    new HeadId(Side.VALUES, layer, 0)))
        .toList();
  }

  /** Saves finished heads and cancels after a number of them. */
  private static final class Recorder implements ProgressListener {
    private final Map<HeadId, Codebook> saved = new HashMap<>();
    private final int most;
    private double done;
    private double total;

    Recorder(int most) {
      this.most = most;
    }

    @Override
    public void progress(double doneByNow, double all) {
      assertThat(doneByNow).isGreaterThan(done);
      done = doneByNow;
      total = all;
    }

    @Override
    public boolean isCancelled() {
      return saved.size() >= most;
    }
  }

  private static Recorder train(Set<HeadId> finished, int threads, int most) {
    return train(PLAN, finished, threads, most);
  }

  private static Recorder train(CodebookPlan plan, Set<HeadId> finished, int threads, int most) {
    Recorder recorder = new Recorder(most);
    new CodebookTraining(SAMPLE, plan, 5)
        .run(
            finished, new LocalRunner(WorkerContext.empty(threads)), recorder, recorder.saved::put);
    return recorder;
  }

  @Test
  void everyCodebookIsTrainedWithAnyNumberOfThreads() {
    Recorder alone = train(Set.of(), 1, 100);
    Recorder together = train(Set.of(), 3, 100);
    assertThat(alone.saved.keySet()).containsExactlyInAnyOrderElementsOf(books());
    assertThat(alone.done).isEqualTo(alone.total);
    for (HeadId head : books()) {
      assertSame(alone.saved.get(head), together.saved.get(head));
    }
  }

  /** Serialization is what happens when a task runs in another process. */
  @Test
  void serializedCodebookIsTrainedToTheSameBits() throws Exception {
    HeadId book = books().get(2);
    HeadTrainingTask here = HeadTrainingTask.of(book, SAMPLE, PLAN, 5);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(here);
    }
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      SerializedCodebook there =
          ((HeadTrainingTask) in.readObject()).run(WorkerContext.empty(1), ProgressListener.NONE);
      SerializedCodebook rows = here.run(WorkerContext.empty(1), ProgressListener.NONE);
      assertThat(there.mean()).isEqualTo(rows.mean());
      assertThat(there.rows()).isEqualTo(rows.rows());
    }
  }

  @Test
  void cancelledTrainingResumes() {
    Recorder whole = train(Set.of(), 1, 100);
    Recorder begun = train(Set.of(), 1, 3);
    assertThat(begun.saved).hasSize(3);
    Recorder rest = train(begun.saved.keySet(), 1, 100);
    assertThat(rest.saved)
        .hasSize(3)
        .doesNotContainKeys(begun.saved.keySet().toArray(HeadId[]::new));
    double keys = StagesTrainer.steps(PLAN.keys());
    assertThat(rest.total).isEqualTo(2 * keys + StagesTrainer.steps(PLAN.values()));
    rest.saved.forEach((head, codebook) -> assertSame(codebook, whole.saved.get(head)));
  }

  @Test
  void codebooksGeneralizeToOtherVectors() {
    Map<HeadId, Codebook> books = train(Set.of(), 2, 100).saved;
    VectorSample other = sample(400, 2);
    for (Side side : Side.values()) {
      for (int layer = 0; layer < 2; layer++) {
        int at = layer;
        List<Codebook> heads =
            IntStream.range(0, PLAN.booksOfLayer(SHAPE, side))
                .mapToObj(i -> books.get(new HeadId(side, at, i)))
                .toList();
        assertThat(heads.getFirst())
            .isInstanceOf(side == Side.KEYS ? KeyCodebook.class : ValueCodebook.class);
        HeldOutError error = HeldOutError.of(other, side, layer, heads, 2);
        assertThat(error.ofCentred()).isLessThan(0.08);
        assertThat(error.ofVectors()).isLessThan(0.3 * error.ofCentred());
      }
    }
  }

  /** A stage of keys covers two of the four pairs, and a set has 16 rows. */
  @Test
  void codesOfSomePairsLeaveTheOthersAtZero() {
    CodebookPlan plan = new CodebookPlan(1, 16, 2, SETTINGS, SETTINGS);
    Map<HeadId, Codebook> books = train(plan, Set.of(), 2, 100).saved;
    assertThat(books).hasSize(8);
    AdditiveStages keys = books.get(new HeadId(Side.KEYS, 0, 1)).stages();
    assertThat(keys.stages()).isEqualTo(4);
    assertThat(keys.used()).isEqualTo(16);
    for (int row = 0; row < 4 * 2 * AdditiveStages.ROWS; row++) {
      boolean isUsed = row % AdditiveStages.ROWS < 16;
      int group = row / (2 * 2 * AdditiveStages.ROWS);
      for (int channel = 0; channel < 8; channel++) {
        boolean isCovered = isUsed && channel % 4 / 2 == group;
        assertThat(keys.rows()[row * 8 + channel] != 0)
            .as("row %d, channel %d", row, channel)
            .isEqualTo(isCovered);
      }
    }
    List<Codebook> heads =
        List.of(books.get(new HeadId(Side.KEYS, 0, 0)), books.get(new HeadId(Side.KEYS, 0, 1)));
    assertThat(HeldOutError.of(sample(400, 2), Side.KEYS, 0, heads, 2).ofCentred()).isLessThan(0.1);
  }

  private static void assertSame(Codebook one, Codebook other) {
    assertThat(one.mean()).isEqualTo(other.mean());
    assertThat(one.stages().rows()).isEqualTo(other.stages().rows());
  }
}
