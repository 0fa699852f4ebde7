package dev.kvasir.hub;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Where the hub and the cache are. The variables and defaults are those of huggingface_hub.
 *
 * @param endpoint address of the hub, without a slash at its end
 * @param cache folder of all repositories
 * @param token identifies a user to the hub
 * @param offline whether only the cache may be used
 * @param links whether snapshots are symbolic links; false where that was switched off
 * @param timeout limit on the wait for an answer, and for further bytes of one
 */
public record HubSettings(
    URI endpoint,
    Path cache,
    Optional<String> token,
    boolean offline,
    boolean links,
    Duration timeout) {
  private static final String DEFAULT_ENDPOINT = "https://huggingface.co";
  private static final String PROPERTIES = "kvasir.";
  private static final Set<String> TRUE = Set.of("1", "ON", "YES", "TRUE");
  private static final int DEFAULT_SECONDS = 10;
  private static final int MAX_SECONDS = 3600;

  /** A token printed by accident is a leak. */
  @Override
  public String toString() {
    return "HubSettings[endpoint=%s, cache=%s, offline=%s]".formatted(endpoint, cache, offline);
  }

  /**
   * Returns the settings of this process. A system property such as {@code kvasir.HF_ENDPOINT}
   * takes precedence over the environment variable {@code HF_ENDPOINT}.
   */
  public static HubSettings ofThisProcess() {
    return of(
        name -> System.getProperty(PROPERTIES + name, System.getenv(name)),
        Path.of(System.getProperty("user.home")));
  }

  /**
   * @param variables returns null for a variable that is not set
   * @param home folder of the user
   */
  static HubSettings of(Function<String, String> variables, Path home) {
    Function<String, Optional<String>> set =
        name -> Optional.ofNullable(variables.apply(name)).filter(text -> !text.isBlank());
    Path base =
        set.apply("HF_HOME")
            .map(text -> path("HF_HOME", text, home))
            .orElseGet(
                () ->
                    set.apply("XDG_CACHE_HOME")
                        .map(text -> path("XDG_CACHE_HOME", text, home))
                        .orElse(home.resolve(".cache"))
                        .resolve("huggingface"));
    Path cache =
        set.apply("HF_HUB_CACHE")
            .or(() -> set.apply("HUGGINGFACE_HUB_CACHE"))
            .map(text -> path("HF_HUB_CACHE", text, home))
            .orElse(base.resolve("hub"));
    return new HubSettings(
        endpoint(set.apply("HF_ENDPOINT").orElse(DEFAULT_ENDPOINT)),
        cache,
        token(set, base, home),
        isTrue(set.apply("HF_HUB_OFFLINE").or(() -> set.apply("TRANSFORMERS_OFFLINE"))),
        !isTrue(set.apply("HF_HUB_DISABLE_SYMLINKS")),
        Duration.ofSeconds(seconds(set.apply("HF_HUB_DOWNLOAD_TIMEOUT"))));
  }

  private static Path path(String name, String text, Path home) {
    try {
      return text.equals("~") || text.startsWith("~/")
          ? home.resolve(text.substring(Math.min(2, text.length())))
          : Path.of(text);
    } catch (IllegalArgumentException e) {
      throw new InvalidInputException("%s is '%s'; expected a path".formatted(name, text), e);
    }
  }

  private static URI endpoint(String text) {
    try {
      URI uri = URI.create(text.strip().replaceFirst("/+$", ""));
      boolean isWeb = "https".equals(uri.getScheme()) || "http".equals(uri.getScheme());
      if (isWeb && uri.getHost() != null && uri.getQuery() == null) {
        return uri;
      }
    } catch (IllegalArgumentException e) {
      // Reported below, like an address of another kind.
    }
    throw new InvalidInputException(
        "HF_ENDPOINT is '%s'; expected an address such as %s".formatted(text, DEFAULT_ENDPOINT));
  }

  private static Optional<String> token(
      Function<String, Optional<String>> set, Path base, Path home) {
    Optional<String> given =
        set.apply("HF_TOKEN").or(() -> set.apply("HUGGING_FACE_HUB_TOKEN")).map(String::strip);
    if (given.isPresent()) {
      return given.map(text -> checked("HF_TOKEN", text));
    }
    if (isTrue(set.apply("HF_HUB_DISABLE_IMPLICIT_TOKEN"))) {
      return Optional.empty();
    }
    Path file =
        set.apply("HF_TOKEN_PATH")
            .map(text -> path("HF_TOKEN_PATH", text, home))
            .orElse(base.resolve("token"));
    try {
      return Optional.of(Files.readString(file).strip())
          .filter(text -> !text.isEmpty())
          .map(text -> checked(file.toString(), text));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** The sentence leaves out the value, since it is a secret. */
  private static String checked(String name, String token) {
    if (!token.matches("[\\x21-\\x7e]{1,4096}")) {
      throw new InvalidInputException(
          "%s: holds spaces or characters beyond ASCII; expected one token".formatted(name));
    }
    return token;
  }

  private static boolean isTrue(Optional<String> value) {
    return value
        .map(text -> text.strip().toUpperCase(Locale.ROOT))
        .filter(TRUE::contains)
        .isPresent();
  }

  private static int seconds(Optional<String> value) {
    if (value.isEmpty()) {
      return DEFAULT_SECONDS;
    }
    String text = value.get().strip();
    int seconds = text.matches("\\d{1,6}") ? Integer.parseInt(text) : 0;
    if (seconds < 1 || seconds > MAX_SECONDS) {
      throw new InvalidInputException(
          "HF_HUB_DOWNLOAD_TIMEOUT is '%s'; expected 1 to %d seconds".formatted(text, MAX_SECONDS));
    }
    return seconds;
  }
}
