package dev.kvasir.lab.codebook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.CacheShape;
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
import org.junit.jupiter.api.Test;

class CodebookTrainingTest {
  private static final CacheShape SHAPE = new CacheShape(2, 2, 8);
  private static final TrainingSettings SETTINGS = new TrainingSettings(2, 3, 4, 0.05, 0.001, 1, 2);
  private static final VectorSample SAMPLE = sample(800, 1);

  /** Keys and values that lie near planes of three dimensions, far off zero. */
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
      for (HeadId head : heads()) {
        sample.put(head.side(), head.layer(), head.kvHead(), token, vector(basis, random), 0);
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

  private static List<HeadId> heads() {
    return List.of(Side.values()).stream()
        .flatMap(side -> List.of(0, 1, 2, 3).stream().map(i -> new HeadId(side, i / 2, i % 2)))
        .toList();
  }

  /** Keeps what is finished, and stops after so many heads. */
  private static final class Keeper implements ProgressListener {
    private final Map<HeadId, Codebook> kept = new HashMap<>();
    private final int most;
    private double done;
    private double inAll;

    Keeper(int most) {
      this.most = most;
    }

    @Override
    public void progress(double doneByNow, double all) {
      assertThat(doneByNow).isGreaterThan(done);
      done = doneByNow;
      inAll = all;
    }

    @Override
    public boolean isCancelled() {
      return kept.size() >= most;
    }
  }

  private static Keeper train(Set<HeadId> finished, int threads, int most) {
    Keeper keeper = new Keeper(most);
    new CodebookTraining(SAMPLE, SETTINGS, 5)
        .run(finished, new LocalRunner(WorkerContext.empty(threads)), keeper, keeper.kept::put);
    return keeper;
  }

  @Test
  void everyHeadIsTrainedWhateverTheThreads() {
    Keeper alone = train(Set.of(), 1, 100);
    Keeper together = train(Set.of(), 3, 100);
    assertThat(alone.kept.keySet()).containsExactlyInAnyOrderElementsOf(heads());
    assertThat(alone.done).isEqualTo(alone.inAll);
    for (HeadId head : heads()) {
      assertSame(alone.kept.get(head), together.kept.get(head));
    }
  }

  /** As when it goes to another process. */
  @Test
  void aHeadThatWasSentIsTrainedToTheSameBits() throws Exception {
    HeadId head = heads().get(3);
    HeadTrainingTask here = new HeadTrainingTask(head, SampledHead.in(SAMPLE, head), SETTINGS, 5);
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
  void aStoppedTrainingIsTakenUpWhereItEnded() {
    Keeper whole = train(Set.of(), 1, 100);
    Keeper begun = train(Set.of(), 1, 3);
    assertThat(begun.kept).hasSize(3);
    Keeper rest = train(begun.kept.keySet(), 1, 100);
    assertThat(rest.kept).hasSize(5).doesNotContainKeys(begun.kept.keySet().toArray(HeadId[]::new));
    assertThat(rest.inAll).isEqualTo(5 * StagesTrainer.steps(SETTINGS));
    rest.kept.forEach((head, codebook) -> assertSame(codebook, whole.kept.get(head)));
  }

  @Test
  void whatIsLearnedHoldsForOtherVectors() {
    Map<HeadId, Codebook> books = train(Set.of(), 2, 100).kept;
    VectorSample other = sample(400, 2);
    for (Side side : Side.values()) {
      for (int layer = 0; layer < 2; layer++) {
        List<Codebook> heads =
            List.of(books.get(new HeadId(side, layer, 0)), books.get(new HeadId(side, layer, 1)));
        assertThat(heads.getFirst())
            .isInstanceOf(side == Side.KEYS ? KeyCodebook.class : ValueCodebook.class);
        HeldOutError error = HeldOutError.of(other, side, layer, heads, 2);
        assertThat(error.ofCentred()).isLessThan(0.08);
        assertThat(error.ofVectors()).isLessThan(0.3 * error.ofCentred());
      }
    }
  }

  private static void assertSame(Codebook one, Codebook other) {
    assertThat(one.mean()).isEqualTo(other.mean());
    assertThat(one.stages().rows()).isEqualTo(other.stages().rows());
  }
}
