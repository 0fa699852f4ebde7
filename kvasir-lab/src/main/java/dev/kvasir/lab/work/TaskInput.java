package dev.kvasir.lab.work;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.ContentHash;
import dev.kvasir.format.GgufFile;
import dev.kvasir.stored.WeightsHash;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A file or flat folder that tasks read, identified by its content.
 *
 * @param path its location on the machine that made the plan
 * @param name the last part of the path
 * @param folder whether it is a folder
 * @param hashes SHA-256 of each file by file name, in hexadecimal digits
 */
public record TaskInput(
    Role role, String path, String name, boolean folder, TreeMap<String, String> hashes)
    implements Serializable {
  /** What the input is used for. */
  public enum Role {
    MODEL,
    PROFILE,
    FILE
  }

  /** Hashes a file or folder of this machine, which reads all of it. */
  public static TaskInput of(Role role, Path path) {
    Path whole = path.toAbsolutePath().normalize();
    return new TaskInput(
        role,
        whole.toString(),
        whole.getFileName().toString(),
        Files.isDirectory(whole),
        hashes(whole));
  }

  /** The files of a split model are siblings, whichever of them was named. */
  private static TreeMap<String, String> hashes(Path path) {
    TreeMap<String, String> hashes = new TreeMap<>();
    files(path).forEach(file -> hashes.put(file.getFileName().toString(), ContentHash.hex(file)));
    return hashes;
  }

  private static List<Path> files(Path path) {
    if (!Files.isDirectory(path)) {
      return GgufFile.parts(path);
    }
    try (Stream<Path> all = Files.list(path)) {
      return all.filter(file -> Files.isRegularFile(file) && !WeightsHash.isHashFile(file))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be read".formatted(path), e);
    }
  }

  /** Returns the files by name, with their paths on the machine that made the plan. */
  public Map<String, Path> files() {
    Path directory = folder ? Path.of(path) : Path.of(path).getParent();
    Map<String, Path> files = new TreeMap<>();
    hashes.keySet().forEach(file -> files.put(file, directory.resolve(file)));
    return files;
  }

  /**
   * Verifies that a location holds the same content.
   *
   * @param host name of the machine for messages
   */
  public void verifyAt(Path place, String host) {
    Path directory = folder ? place : place.toAbsolutePath().getParent();
    hashes.forEach((file, hash) -> verifyFile(directory.resolve(file), hash, host));
  }

  private static void verifyFile(Path file, String hash, String host) {
    boolean there = Files.isRegularFile(file);
    if (!there || !ContentHash.hex(file).equals(hash)) {
      throw new InvalidInputException(
          "%s: is %s on %s; put the same file there, or send it along with --ship"
              .formatted(file, there ? "another file" : "not there", host));
    }
  }
}
