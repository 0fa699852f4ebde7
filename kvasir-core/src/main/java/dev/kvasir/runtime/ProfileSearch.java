package dev.kvasir.runtime;

import dev.kvasir.choice.UserFolder;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.profile.Profile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Finds the calibration profile of a model that is loaded without naming one. The first of these
 * files that belongs to the model counts:
 *
 * <pre>
 * FOLDER/MODEL.profile                        beside FOLDER/MODEL.gguf
 * FOLDER/kvasir.profile                       in the model's folder
 * USER FOLDER/profiles/FINGERPRINT.profile    where calibration saves it
 * </pre>
 *
 * @param file the profile's file
 * @param rejected why files that exist were not taken, a sentence each
 */
public record ProfileSearch(Optional<Path> file, List<String> rejected) {
  private static final String ENDING = ".profile";
  private static final String OF_FOLDER = "kvasir" + ENDING;

  /** The end of a GGUF file's name, with the number of a part. */
  private static final Pattern GGUF_ENDING = Pattern.compile("(-\\d{5}-of-\\d{5})?\\.gguf$");

  /**
   * @param model a GGUF file, or a folder
   * @param fingerprint the model's fingerprint, which a profile records
   */
  public static ProfileSearch of(Path model, String fingerprint, UserFolder user) {
    List<String> rejected = new ArrayList<>();
    for (Path candidate : candidates(model, fingerprint, user)) {
      Optional<String> problem = problem(candidate, fingerprint);
      if (problem.isEmpty()) {
        return new ProfileSearch(Optional.of(candidate), List.copyOf(rejected));
      }
      rejected.add(problem.get());
    }
    return new ProfileSearch(Optional.empty(), List.copyOf(rejected));
  }

  /** Returns the file, opened. */
  public Optional<Profile> profile() {
    return file.map(Profile::open);
  }

  private static List<Path> candidates(Path model, String fingerprint, UserFolder user) {
    Path absolute = model.toAbsolutePath();
    boolean isFolder = Files.isDirectory(absolute);
    List<Path> all = new ArrayList<>();
    if (isFolder) {
      all.add(absolute.resolve(OF_FOLDER));
    } else {
      String name = GGUF_ENDING.matcher(absolute.getFileName().toString()).replaceFirst("");
      all.add(absolute.resolveSibling(name + ENDING));
      all.add(absolute.resolveSibling(OF_FOLDER));
    }
    all.add(user.profile(fingerprint));
    all.removeIf(file -> !Files.isRegularFile(file));
    return all;
  }

  private static Optional<String> problem(Path file, String fingerprint) {
    try {
      String model = Profile.open(file).model();
      return model.equals(fingerprint)
          ? Optional.empty()
          : Optional.of(
              "%s is not used: it belongs to a model with fingerprint %s, this one has %s"
                  .formatted(file, model, fingerprint));
    } catch (InvalidInputException e) {
      return Optional.of("%s is not used: %s".formatted(file, e.getMessage()));
    }
  }
}
