package dev.kvasir.runtime;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.ResourceBytes;
import dev.kvasir.profile.Profile;
import dev.kvasir.spi.BundledModel;
import dev.kvasir.stored.WeightsHash;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.util.Optional;
import java.util.ServiceLoader;

/** Opens the files of the bundled model. */
public final class BundledFiles {
  private BundledFiles() {}

  private static Optional<BundledModel> find() {
    return ServiceLoader.load(BundledModel.class).findFirst();
  }

  /** Returns the calibration profile; empty if no model is bundled. */
  public static Optional<Profile> profile() {
    return find()
        .map(model -> ResourceBytes.of(model.profile(), Arena.ofAuto()))
        .map(bytes -> Profile.of("the bundled profile", bytes));
  }

  /**
   * @throws InvalidInputException if no model is bundled
   */
  public static GgufFile open() {
    BundledModel model =
        find()
            .orElseThrow(
                () ->
                    new InvalidInputException(
                        "no model was given and none is bundled; add the module kvasir-mini to the"
                            + " class path"));
    Arena arena = Arena.ofShared();
    try {
      return GgufFile.of(model.name(), ResourceBytes.of(model.weights(), arena), arena);
    } catch (UncheckedIOException e) {
      arena.close();
      throw e;
    }
  }

  static String hash() {
    try (GgufFile file = open()) {
      return WeightsHash.of(file);
    }
  }
}
