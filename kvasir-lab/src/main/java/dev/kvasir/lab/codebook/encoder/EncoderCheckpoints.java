package dev.kvasir.lab.codebook.encoder;

import dev.kvasir.codec.commvq.EncoderWeights;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.profile.Profile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Checkpoints of finished encoders, one file for each layer. A resumed training continues with the
 * missing ones and gets the same result.
 */
public final class EncoderCheckpoints {
  private static final String TRAINING = "encoder/training";
  private static final String SCALES = "encoder/channel-scales";
  private static final String NUMBERS = "encoder/numbers";

  private final Path folder;
  private final String model;
  private final String training;
  private final EncoderParameters at;
  private final int layers;

  /**
   * @param model fingerprint of the model
   * @param training description of everything that determines the result; encoders of a different
   *     training are ignored
   * @param width channels of a token's values
   */
  public EncoderCheckpoints(
      Path folder, String model, String training, EncoderSettings settings, int width, int layers) {
    this.folder = folder;
    this.model = model;
    this.training = training;
    this.at = new EncoderParameters(width, settings.hidden(), settings.bits());
    this.layers = layers;
  }

  public Set<Integer> finished() {
    return IntStream.range(0, layers)
        .boxed()
        .filter(layer -> open(layer).isPresent())
        .collect(Collectors.toSet());
  }

  private Path file(int layer) {
    return folder.resolve("encoder-" + layer);
  }

  private Optional<Profile> open(int layer) {
    Path file = file(layer);
    return Files.exists(file)
        ? Optional.of(Profile.open(file))
            .filter(found -> found.model().equals(model))
            .filter(found -> found.note(TRAINING).equals(Optional.of(training)))
        : Optional.empty();
  }

  public void save(int layer, EncoderWeights weights) {
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be made".formatted(folder), e);
    }
    Profile.empty(model)
        .withNote(TRAINING, training)
        .with(SCALES, weights.channelScales(), at.width())
        .with(NUMBERS, at.numbers(weights), at.count())
        .write(file(layer));
  }

  /** Returns all encoders after all of them are finished. */
  public List<EncoderWeights> all() {
    return IntStream.range(0, layers).mapToObj(this::weights).toList();
  }

  private EncoderWeights weights(int layer) {
    Profile found =
        open(layer)
            .orElseThrow(() -> new IllegalStateException("layer " + layer + " is not finished"));
    return at.weights(found.floats(SCALES, at.width()), found.floats(NUMBERS, at.count()));
  }
}
