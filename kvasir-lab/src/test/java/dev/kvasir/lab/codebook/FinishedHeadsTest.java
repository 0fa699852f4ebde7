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

class FinishedHeadsTest {
  private static final int STAGES = 2;
  private static final CacheShape SHAPE = new CacheShape(1, 1, Planted.LENGTH);
  private static final TrainedHead KEYS = new TrainedHead(Side.KEYS, 0, 0);
  private static final TrainedHead VALUES = new TrainedHead(Side.VALUES, 0, 0);

  @TempDir private Path folder;

  private final float[] mean = {1, 2, 3, 4, 5, 6, 7, 8};
  private final Codebook keys =
      KeyCodebook.of(mean, Planted.rows(RowStructure.COMMUTING, STAGES, new Random(1)));
  private final Codebook values =
      new ValueCodebook(mean, Planted.rows(RowStructure.FREE, STAGES, new Random(2)));

  private FinishedHeads heads(String model, String training) {
    return new FinishedHeads(folder.resolve("a.heads"), model, training, SHAPE, STAGES);
  }

  @Test
  void whatWasKeptComesBackToTheBit() {
    heads("m", "t").keep(KEYS, keys);
    assertThat(heads("m", "t").heads()).containsExactly(KEYS);
    heads("m", "t").keep(VALUES, values);
    LayerCodebooks layer = heads("m", "t").layers().getFirst();
    assertThat(layer.keys().getFirst().mean()).isEqualTo(mean);
    assertThat(layer.keys().getFirst().stages().rows()).isEqualTo(keys.stages().rows());
    assertThat(layer.values().getFirst().stages().rows()).isEqualTo(values.stages().rows());
  }

  @Test
  void headsOfAnotherTrainingOrModelDoNotCount() {
    heads("m", "t").keep(KEYS, keys);
    assertThat(heads("m", "another").heads()).isEmpty();
    assertThat(heads("another", "t").heads()).isEmpty();
  }

  @Test
  void nothingStaysBehind() {
    heads("m", "t").keep(KEYS, keys);
    heads("m", "t").remove();
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void norWhatAKilledRunHasLeft() throws IOException {
    heads("m", "t").keep(KEYS, keys);
    Path kept = folder.resolve("a.heads");
    Files.writeString(kept.resolve(".values-0-0.4711.part"), "half a head");
    Files.writeString(kept.resolve("values-31-7"), "of a larger model");
    heads("m", "t").remove();
    assertThat(folder).isEmptyDirectory();
    heads("m", "t").remove();
  }

  @Test
  void aFolderOfSomebodyElseIsLeftAloneWithoutAWord() throws IOException {
    heads("m", "t").keep(KEYS, keys);
    Path notes = Files.createDirectory(folder.resolve("a.heads").resolve("notes"));
    heads("m", "t").remove();
    assertThat(notes.getParent()).isDirectoryNotContaining(file -> !file.equals(notes));
    assertThat(notes).isDirectory();
  }
}
