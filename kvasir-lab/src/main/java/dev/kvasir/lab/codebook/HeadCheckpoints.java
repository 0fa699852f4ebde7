package dev.kvasir.lab.codebook;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.codec.commvq.Codebook;
import dev.kvasir.codec.commvq.KeyCodebook;
import dev.kvasir.codec.commvq.LayerCodebooks;
import dev.kvasir.codec.commvq.ValueCodebook;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.codebook.VectorSample.Side;
import dev.kvasir.profile.Profile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * Checkpoints of finished codebooks, one file for each head. A resumed training continues with the
 * missing heads and gets the same result.
 */
public final class HeadCheckpoints {
  private static final String TRAINING = "head/training";
  private static final String MEAN = "head/mean";
  private static final String ROWS = "head/rows";

  private final Path folder;
  private final String model;
  private final String training;
  private final CacheShape shape;
  private final int stages;

  /**
   * @param model fingerprint of the model
   * @param training description of everything that determines the result; heads of a different
   *     training are ignored
   */
  public HeadCheckpoints(Path folder, String model, String training, CacheShape shape, int stages) {
    this.folder = folder;
    this.model = model;
    this.training = training;
    this.shape = shape;
    this.stages = stages;
  }

  public Set<HeadId> heads() {
    Set<HeadId> finished = new HashSet<>();
    for (HeadId head : all()) {
      if (open(head).isPresent()) {
        finished.add(head);
      }
    }
    return finished;
  }

  private List<HeadId> all() {
    List<HeadId> heads = new ArrayList<>();
    for (Side side : Side.values()) {
      for (int layer = 0; layer < shape.layers(); layer++) {
        for (int kvHead = 0; kvHead < shape.kvHeads(); kvHead++) {
          heads.add(new HeadId(side, layer, kvHead));
        }
      }
    }
    return heads;
  }

  private Optional<Profile> open(HeadId head) {
    Path file = file(head);
    return Files.exists(file)
        ? Optional.of(Profile.open(file))
            .filter(found -> found.model().equals(model))
            .filter(found -> found.note(TRAINING).equals(Optional.of(training)))
        : Optional.empty();
  }

  private Path file(HeadId head) {
    String side = head.side().name().toLowerCase(Locale.ROOT);
    return folder.resolve("%s-%d-%d".formatted(side, head.layer(), head.kvHead()));
  }

  public void save(HeadId head, Codebook codebook) {
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be made".formatted(folder), e);
    }
    Profile.empty(model)
        .withNote(TRAINING, training)
        .with(MEAN, codebook.mean(), shape.headDim())
        .with(ROWS, codebook.stages().rows(), stages, 2, AdditiveStages.ROWS, shape.headDim())
        .write(file(head));
  }

  /** Returns the codebooks of all layers after all heads are finished. */
  public List<LayerCodebooks> layers() {
    List<LayerCodebooks> layers = new ArrayList<>();
    for (int layer = 0; layer < shape.layers(); layer++) {
      List<KeyCodebook> keys = new ArrayList<>();
      List<ValueCodebook> values = new ArrayList<>();
      for (int kvHead = 0; kvHead < shape.kvHeads(); kvHead++) {
        Profile key = finished(new HeadId(Side.KEYS, layer, kvHead));
        keys.add(KeyCodebook.of(mean(key), rows(key)));
        Profile value = finished(new HeadId(Side.VALUES, layer, kvHead));
        values.add(new ValueCodebook(mean(value), rows(value)));
      }
      layers.add(new LayerCodebooks(keys, values));
    }
    return layers;
  }

  private Profile finished(HeadId head) {
    return open(head).orElseThrow(() -> new IllegalStateException(head + " is not finished"));
  }

  private float[] mean(Profile head) {
    return head.floats(MEAN, shape.headDim());
  }

  private AdditiveStages rows(Profile head) {
    float[] rows = head.floats(ROWS, stages, 2, AdditiveStages.ROWS, shape.headDim());
    return new AdditiveStages(stages, shape.headDim(), rows);
  }

  /** Deletes the folder with its checkpoints. */
  public void delete() {
    CheckpointFolder.delete(folder);
  }
}
