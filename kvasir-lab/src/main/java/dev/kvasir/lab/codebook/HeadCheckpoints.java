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
 * Checkpoints of finished codebooks, one file for each. A resumed training continues with the
 * missing ones and gets the same result.
 */
public final class HeadCheckpoints {
  private static final String TRAINING = "head/training";
  private static final String MEAN = "head/mean";
  private static final String ROWS = "head/rows";

  private final Path folder;
  private final String model;
  private final String training;
  private final CacheShape shape;
  private final CodebookPlan plan;

  /**
   * @param model fingerprint of the model
   * @param training description of everything that determines the result; heads of a different
   *     training are ignored
   */
  public HeadCheckpoints(
      Path folder, String model, String training, CacheShape shape, CodebookPlan plan) {
    this.folder = folder;
    this.model = model;
    this.training = training;
    this.shape = shape;
    this.plan = plan;
  }

  public Set<HeadId> heads() {
    Set<HeadId> finished = new HashSet<>();
    for (HeadId head : plan.books(shape)) {
      if (open(head).isPresent()) {
        finished.add(head);
      }
    }
    return finished;
  }

  /** Returns the finished codebooks of keys. */
  public Set<HeadId> keys() {
    Set<HeadId> finished = heads();
    finished.removeIf(head -> head.side() != Side.KEYS);
    return finished;
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
        .with(MEAN, codebook.mean(), codebook.length())
        .with(ROWS, codebook.stages().rows(), rowShape(head.side()))
        .write(file(head));
  }

  private long[] rowShape(Side side) {
    return new long[] {
      plan.stages(shape, side), 2, AdditiveStages.ROWS, plan.channels(shape, side)
    };
  }

  /** Returns the codebooks of all layers after all of them are finished. */
  public List<LayerCodebooks> layers() {
    List<LayerCodebooks> layers = new ArrayList<>();
    for (int layer = 0; layer < shape.layers(); layer++) {
      List<KeyCodebook> keys = new ArrayList<>();
      List<ValueCodebook> values = new ArrayList<>();
      for (int head = 0; head < plan.booksOfLayer(shape, Side.KEYS); head++) {
        keys.add((KeyCodebook) finished(new HeadId(Side.KEYS, layer, head)));
      }
      for (int group = 0; group < plan.booksOfLayer(shape, Side.VALUES); group++) {
        values.add((ValueCodebook) finished(new HeadId(Side.VALUES, layer, group)));
      }
      layers.add(new LayerCodebooks(keys, values));
    }
    return layers;
  }

  /** Returns the codebooks of keys by layer and head after all of them are finished. */
  public List<List<KeyCodebook>> keyCodebooks() {
    List<List<KeyCodebook>> layers = new ArrayList<>();
    for (int layer = 0; layer < shape.layers(); layer++) {
      List<KeyCodebook> keys = new ArrayList<>();
      for (int head = 0; head < plan.booksOfLayer(shape, Side.KEYS); head++) {
        keys.add((KeyCodebook) finished(new HeadId(Side.KEYS, layer, head)));
      }
      layers.add(keys);
    }
    return layers;
  }

  private Codebook finished(HeadId head) {
    Profile found =
        open(head).orElseThrow(() -> new IllegalStateException(head + " is not finished"));
    float[] mean = found.floats(MEAN, plan.channels(shape, head.side()));
    float[] rows = found.floats(ROWS, rowShape(head.side()));
    return new SerializedCodebook(mean, rows).codebook(head.side(), plan);
  }

  /** Deletes the folder with its checkpoints. */
  public void delete() {
    CheckpointFolder.delete(folder);
  }
}
