package dev.kvasir.choice;

import java.nio.file.Path;
import java.util.Map;

/**
 * The folder in which Kvasir keeps what belongs to a user: sessions, profiles and measured figures.
 */
public record UserFolder(Path path) {
  /** System property that names the folder. */
  public static final String PROPERTY = "kvasir.home";

  /** Returns the folder that the property names, or that of the user who runs this process. */
  public static UserFolder ofThisProcess() {
    String named = System.getProperty(PROPERTY, "");
    if (!named.isEmpty()) {
      return new UserFolder(Path.of(named));
    }
    return of(System.getenv(), Path.of(System.getProperty("user.home")));
  }

  /**
   * Returns {@code $KVASIR_HOME}, or {@code kvasir} in {@code $XDG_DATA_HOME} or in {@code
   * ~/.local/share}.
   *
   * @param environment in which the variables may be set
   */
  public static UserFolder of(Map<String, String> environment, Path home) {
    String own = environment.getOrDefault("KVASIR_HOME", "");
    if (!own.isEmpty()) {
      return new UserFolder(Path.of(own));
    }
    // The XDG specification requires relative paths to be ignored.
    String data = environment.getOrDefault("XDG_DATA_HOME", "");
    boolean isUsable = !data.isEmpty() && Path.of(data).isAbsolute();
    return new UserFolder(
        (isUsable ? Path.of(data) : home.resolve(".local/share")).resolve("kvasir"));
  }

  public Path sessions() {
    return path.resolve("sessions");
  }

  /**
   * Returns the file with the calibration profile of a model, which need not exist.
   *
   * @param fingerprint of the model
   */
  public Path profile(String fingerprint) {
    return path.resolve("profiles").resolve(fingerprint + ".profile");
  }

  /** Returns the folder of the figures of all models. */
  public Path comparisons() {
    return path.resolve("compare");
  }

  /**
   * Returns the file with the figures of a model, which need not exist.
   *
   * @param fingerprint of the model
   */
  public Path figures(String fingerprint) {
    return comparisons().resolve(fingerprint + ".json");
  }
}
