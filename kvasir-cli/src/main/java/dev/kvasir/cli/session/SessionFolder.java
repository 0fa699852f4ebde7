package dev.kvasir.cli.session;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A folder of named sessions: NAME.session, and NAME.json for the messages of a chat. */
public record SessionFolder(Path path) {
  static final String SESSION = ".session";
  static final String MESSAGES = ".json";

  /**
   * Returns the user's session folder.
   *
   * @param environment in which KVASIR_HOME or XDG_DATA_HOME may override the default
   */
  static Path defaultPath(Map<String, String> environment, Path home) {
    String own = environment.getOrDefault("KVASIR_HOME", "");
    if (!own.isEmpty()) {
      return Path.of(own, "sessions");
    }
    // The XDG specification requires relative paths to be ignored.
    String data = environment.getOrDefault("XDG_DATA_HOME", "");
    boolean isUsable = !data.isEmpty() && Path.of(data).isAbsolute();
    Path base = isUsable ? Path.of(data) : home.resolve(".local/share");
    return base.resolve("kvasir/sessions");
  }

  /** Returns the session of a name, whether or not it exists. */
  public SessionEntry of(SessionName name) {
    return new SessionEntry(
        name.text(), path.resolve(name + SESSION), path.resolve(name + MESSAGES));
  }

  SessionEntry find(String nameOrFile) {
    if (SessionName.isAllowed(nameOrFile)) {
      SessionEntry named = of(new SessionName(nameOrFile));
      if (named.exists()) {
        return named;
      }
    }
    Path file = Path.of(nameOrFile);
    if (!Files.isRegularFile(file)) {
      throw new InvalidInputException(
          "'%s' is neither a session in %s nor a file".formatted(nameOrFile, path));
    }
    return SessionEntry.ofFile(file);
  }

  /** Returns all sessions, most recently changed first. */
  List<SessionEntry> all() {
    if (!Files.isDirectory(path)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(path)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(SESSION) || name.endsWith(MESSAGES))
          .map(name -> name.substring(0, name.lastIndexOf('.')))
          .filter(SessionName::isAllowed)
          .distinct()
          .map(name -> of(new SessionName(name)))
          .sorted(
              Comparator.comparing(SessionEntry::changedAt)
                  .reversed()
                  .thenComparing(SessionEntry::name))
          .toList();
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be read".formatted(path), e);
    }
  }

  /** Creates the folder with access for its owner only: conversations are private. */
  public void create() {
    boolean hasOwners = FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
    FileAttribute<?>[] attributes =
        hasOwners
            ? new FileAttribute<?>[] {
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))
            }
            : new FileAttribute<?>[0];
    try {
      Files.createDirectories(path, attributes);
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be made".formatted(path), e);
    }
  }
}
