package dev.kvasir.hub;

import dev.kvasir.error.InvalidInputException;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The name of a model on a hub, {@code hf:owner/repo[:selector][@revision]}.
 *
 * @param selector a quantization such as {@code Q4_K_M}, a file, or {@code safetensors}; without
 *     one the files are chosen by {@link ModelChoice}
 * @param revision a branch, tag or commit
 */
public record HubReference(String owner, String repo, Optional<String> selector, String revision) {
  public static final String PREFIX = "hf:";
  static final String DEFAULT_REVISION = "main";

  private static final String EXPECTED =
      "expected hf:OWNER/REPO, then if needed :QUANTIZATION or :FILE, and @REVISION";
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,95}");
  private static final Pattern SELECTOR = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_./ +-]{0,254}");
  private static final Pattern REVISION = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_./-]{0,254}");
  private static final Pattern COMMIT = Pattern.compile("[0-9a-f]{40}");
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9][\\w.-]*/[A-Za-z0-9][\\w.-]*");

  /** Returns whether a text names a model on a hub rather than a path. */
  public static boolean isReference(String text) {
    return text.startsWith(PREFIX);
  }

  /** Returns whether a text looks like {@code owner/repo} without the prefix. */
  public static boolean looksLikeName(String text) {
    return PLAIN.matcher(text).matches() && !text.endsWith(".gguf");
  }

  /**
   * @throws InvalidInputException if the text is not a reference
   */
  public static HubReference parse(String text) {
    if (!isReference(text)) {
      throw new InvalidInputException("the model is '%s'; %s".formatted(text, EXPECTED));
    }
    // Accepts the form hf://, which other tools use.
    String rest = text.substring(PREFIX.length()).replaceFirst("^//", "");
    String revision = DEFAULT_REVISION;
    int at = rest.indexOf('@');
    if (at >= 0) {
      revision = rest.substring(at + 1);
      rest = rest.substring(0, at);
    }
    Optional<String> selector = Optional.empty();
    int colon = rest.indexOf(':');
    if (colon >= 0) {
      selector = Optional.of(rest.substring(colon + 1));
      rest = rest.substring(0, colon);
    }
    int slash = rest.indexOf('/');
    String owner = slash < 0 ? "" : rest.substring(0, slash);
    String repo = slash < 0 ? rest : rest.substring(slash + 1);
    require(isName(owner) && isName(repo), text, "the repository", rest);
    selector.ifPresent(
        found -> require(isInside(found, SELECTOR), text, "the part after the colon", found));
    require(isInside(revision, REVISION), text, "the revision", revision);
    return new HubReference(owner, repo, selector, revision);
  }

  private static void require(boolean isValid, String text, String what, String found) {
    if (!isValid) {
      throw new InvalidInputException(
          "the model is '%s', where %s is '%s'; %s".formatted(text, what, found, EXPECTED));
    }
  }

  /** The cache's folder names separate their parts by two dashes. */
  private static boolean isName(String name) {
    return NAME.matcher(name).matches()
        && !name.contains("--")
        && !name.contains("..")
        && !name.endsWith("-")
        && !name.endsWith(".");
  }

  private static boolean isInside(String path, Pattern pattern) {
    return pattern.matcher(path).matches() && SafePath.isRelative(path);
  }

  /** Returns {@code owner/repo}. */
  public String repository() {
    return owner + "/" + repo;
  }

  boolean isCommit() {
    return COMMIT.matcher(revision).matches();
  }

  HubReference withSelector(String value) {
    return new HubReference(owner, repo, Optional.of(value), revision);
  }

  /** Returns the text that {@link #parse} reads, without the default revision. */
  @Override
  public String toString() {
    return PREFIX
        + repository()
        + selector.map(text -> ":" + text).orElse("")
        + (revision.equals(DEFAULT_REVISION) ? "" : "@" + revision);
  }
}
