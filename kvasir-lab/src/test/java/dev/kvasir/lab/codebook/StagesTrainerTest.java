package dev.kvasir.lab.codebook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.commvq.AdditiveStages;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StagesTrainerTest {
  private static final TrainingSettings HARD = new TrainingSettings(2, 6, 1, 1, 1, 2, 2);
  private static final TrainingSettings SOFT = new TrainingSettings(2, 6, 8, 0.05, 0.001, 2, 2);

  private final List<Double> errors = new ArrayList<>();

  private Optional<AdditiveStages> train(RowStructure structure, TrainingSettings settings) {
    TrainingSet set = new PlantedVectors(structure, 2, 1500, 12, 1).set;
    return new StagesTrainer(set, structure, AdditiveStages.ROWS, settings, errors::add)
        .train(new SplittableRandom(1));
  }

  @ParameterizedTest
  @EnumSource(RowStructure.class)
  void errorFallsFarBelowThatOfOneStage(RowStructure structure) {
    assertThat(train(structure, HARD)).isPresent();
    assertThat(errors)
        .hasSize(StagesTrainer.steps(HARD))
        .isSortedAccordingTo((a, b) -> Double.compare(b, a));
    assertThat(errors.getFirst()).isLessThan(0.3);
    assertThat(errors.getLast()).isLessThan(0.06);
  }

  @ParameterizedTest
  @EnumSource(RowStructure.class)
  void vectorsCanBeSharedBetweenCenters(RowStructure structure) {
    assertThat(train(structure, SOFT)).isPresent();
    assertThat(errors.getLast()).isLessThan(0.06);
  }

  @ParameterizedTest
  @EnumSource(RowStructure.class)
  void sameSeedGivesSameRows(RowStructure structure) {
    assertThat(train(structure, SOFT).get().rows()).isEqualTo(train(structure, SOFT).get().rows());
  }

  @ParameterizedTest
  @EnumSource(RowStructure.class)
  void listenerCanEndTheTraining(RowStructure structure) {
    TrainingSet set = new PlantedVectors(structure, 2, 300, 12, 1).set;
    for (int steps = 1; steps <= StagesTrainer.steps(HARD); steps++) {
      errors.clear();
      int last = steps;
      StagesTrainer trainer =
          new StagesTrainer(
              set,
              structure,
              AdditiveStages.ROWS,
              HARD,
              error -> {
                errors.add(error);
                return errors.size() < last;
              });
      assertThat(trainer.train(new SplittableRandom(1))).isEmpty();
      assertThat(errors).hasSize(steps);
    }
  }
}
