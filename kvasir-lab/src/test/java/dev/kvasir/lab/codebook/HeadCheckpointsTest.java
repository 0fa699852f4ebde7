package dev.kvasir.lab.codebook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.commvq.Codebook;
import dev.kvasir.codec.commvq.KeyCodebook;
import dev.kvasir.codec.commvq.LayerCodebooks;
import dev.kvasir.codec.commvq.ValueCodebook;
import dev.kvasir.lab.codebook.VectorSample.Side;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HeadCheckpointsTest {
  private static final int STAGES = 2;
  private static final CacheShape SHAPE = new CacheShape(1, 1, PlantedVectors.LENGTH);
  private static final CodebookPlan PLAN = CodebookPlan.of(SHAPE, TrainingSettings.of(STAGES));
  private static final HeadId KEYS = new HeadId(Side.KEYS, 0, 0);
  private static final HeadId VALUES = new HeadId(Side.VALUES, 0, 0);

  @TempDir private Path folder;

  private final float[] mean = {1, 2, 3, 4, 5, 6, 7, 8};
  private final Codebook keys =
      KeyCodebook.of(mean, PlantedVectors.rows(RowStructure.COMMUTING, STAGES, new Random(1)));
  private final Codebook values =
      new ValueCodebook(mean, PlantedVectors.rows(RowStructure.FREE, STAGES, new Random(2)));

  private HeadCheckpoints heads(String model, String training) {
    return new HeadCheckpoints(folder.resolve("a.heads"), model, training, SHAPE, PLAN);
  }

  @Test
  void savedCodebooksAreRestoredBitForBit() {
    heads("m", "t").save(KEYS, keys);
    assertThat(heads("m", "t").heads()).containsExactly(KEYS);
    heads("m", "t").save(VALUES, values);
    LayerCodebooks layer = heads("m", "t").layers().getFirst();
    assertThat(layer.keys().getFirst().mean()).isEqualTo(mean);
    assertThat(layer.keys().getFirst().stages().rows()).isEqualTo(keys.stages().rows());
    assertThat(layer.values().getFirst().stages().rows()).isEqualTo(values.stages().rows());
  }

  @Test
  void headsOfAnotherTrainingOrModelAreIgnored() {
    heads("m", "t").save(KEYS, keys);
    assertThat(heads("m", "another").heads()).isEmpty();
    assertThat(heads("another", "t").heads()).isEmpty();
  }

  @Test
  void deleteRemovesTheFolder() {
    heads("m", "t").save(KEYS, keys);
    heads("m", "t").delete();
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void deleteRemovesFilesOfAKilledRun() throws IOException {
    heads("m", "t").save(KEYS, keys);
    Path checkpoints = folder.resolve("a.heads");
    Files.writeString(checkpoints.resolve(".values-0-0.4711.part"), "half a head");
    Files.writeString(checkpoints.resolve("values-31-7"), "of a larger model");
    heads("m", "t").delete();
    assertThat(folder).isEmptyDirectory();
    heads("m", "t").delete();
  }

  @Test
  void foreignSubfolderIsKept() throws IOException {
    heads("m", "t").save(KEYS, keys);
    Path notes = Files.createDirectory(folder.resolve("a.heads").resolve("notes"));
    heads("m", "t").delete();
    assertThat(notes.getParent()).isDirectoryNotContaining(file -> !file.equals(notes));
    assertThat(notes).isDirectory();
  }
}
