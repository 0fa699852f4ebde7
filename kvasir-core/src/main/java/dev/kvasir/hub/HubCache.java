package dev.kvasir.hub;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.AtomicFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * The cache folder of huggingface_hub, which Python tools share:
 *
 * <pre>
 * models--OWNER--REPO/
 *   blobs/TAG                  content, named by its hash
 *   blobs/TAG.incomplete       the beginning of a download
 *   refs/REVISION              a text file with the commit
 *   snapshots/COMMIT/PATH      a relative link to the blob; the file itself where links are impossible
 * .locks/models--OWNER--REPO/TAG.lock
 * </pre>
 */
public final class HubCache {
  private static final String FOLDER_PREFIX = "models--";

  private final Path root;
  private final boolean links;

  public HubCache(HubSettings settings) {
    this.root = settings.cache();
    this.links = settings.links();
  }

  public Path root() {
    return root;
  }

  Path folder(HubReference reference) {
    return root.resolve(folderName(reference));
  }

  private static String folderName(HubReference reference) {
    return FOLDER_PREFIX + reference.owner() + "--" + reference.repo();
  }

  Path blob(HubReference reference, String tag) {
    return folder(reference).resolve("blobs").resolve(tag);
  }

  Path incomplete(HubReference reference, String tag) {
    return folder(reference).resolve("blobs").resolve(tag + ".incomplete");
  }

  Path lock(HubReference reference, String tag) {
    return root.resolve(".locks").resolve(folderName(reference)).resolve(tag + ".lock");
  }

  Path snapshots(HubReference reference) {
    return folder(reference).resolve("snapshots");
  }

  Path snapshot(HubReference reference, String commit) {
    return snapshots(reference).resolve(commit);
  }

  Path file(HubReference reference, String commit, String path) {
    return SafePath.resolve(snapshot(reference, commit), path);
  }

  private Path ref(HubReference reference) {
    return SafePath.resolve(folder(reference).resolve("refs"), reference.revision());
  }

  /** Returns the commit that a revision had at the last download. */
  Optional<String> commit(HubReference reference) {
    if (reference.isCommit()) {
      return Optional.of(reference.revision());
    }
    try {
      return Optional.of(Files.readString(ref(reference)).strip()).filter(SafePath::isName);
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** Records the commit of a branch or tag. In a cache that is read-only it stays as it is. */
  void saveCommit(HubReference reference, String commit) {
    if (reference.isCommit() || commit(reference).filter(commit::equals).isPresent()) {
      return;
    }
    try {
      Path file = ref(reference);
      Files.createDirectories(file.getParent());
      AtomicFile.write(file, commit);
    } catch (IOException | InvalidInputException e) {
      return;
    }
  }

  /** Returns what the cache has of a revision. */
  Optional<HubListing> listing(HubReference reference) {
    return commit(reference)
        .filter(commit -> Files.isDirectory(snapshot(reference, commit)))
        .map(commit -> listing(reference, commit));
  }

  HubListing listing(HubReference reference, String commit) {
    Path folder = snapshot(reference, commit);
    List<HubFile> files = new ArrayList<>();
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path file : (Iterable<Path>) all.sorted()::iterator) {
        // Follows links: one whose blob is gone is no file.
        if (Files.isRegularFile(file)) {
          String path = folder.relativize(file).toString().replace('\\', '/');
          files.add(new HubFile(path, OptionalLong.of(Files.size(file)), Optional.empty()));
        }
      }
    } catch (IOException | UncheckedIOException e) {
      throw new InvalidInputException("%s: cannot be read".formatted(folder), e);
    }
    return new HubListing(commit, List.copyOf(files));
  }

  /** Returns whether a snapshot has a file of the listed size. */
  boolean has(HubReference reference, String commit, HubFile file) {
    return hasSize(file(reference, commit, file.path()), file.bytes());
  }

  static boolean hasSize(Path file, OptionalLong bytes) {
    try {
      return Files.isRegularFile(file)
          && (bytes.isEmpty() || Files.size(file) == bytes.getAsLong());
    } catch (IOException e) {
      return false;
    }
  }

  void createFolders(HubReference reference, String tag) {
    try {
      Files.createDirectories(folder(reference).resolve("blobs"));
      Files.createDirectories(lock(reference, tag).getParent());
    } catch (IOException e) {
      throw new InvalidInputException(
          "%s: cannot be written; HF_HUB_CACHE names another folder".formatted(root), e);
    }
  }

  /**
   * Puts a blob into a snapshot.
   *
   * @param isNew whether no other snapshot can refer to the blob, so that it may be moved where
   *     links are impossible
   */
  void link(HubReference reference, String commit, String path, String tag, boolean isNew) {
    Path target = file(reference, commit, path);
    Path blob = blob(reference, tag);
    try {
      Files.createDirectories(target.getParent());
      Files.deleteIfExists(target);
      if (links && linked(target, target.getParent().relativize(blob))) {
        return;
      }
      if (isNew) {
        Files.move(blob, target, StandardCopyOption.REPLACE_EXISTING);
      } else {
        copy(blob, target);
      }
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be written".formatted(target), e);
    }
  }

  /** Returns whether a link was made: Windows needs a privilege, and some disks have none. */
  private static boolean linked(Path target, Path blob) {
    try {
      Files.createSymbolicLink(target, blob);
      return true;
    } catch (FileAlreadyExistsException e) {
      return true; // another process was faster
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    Path part = to.resolveSibling(to.getFileName() + ".incomplete");
    Files.copy(from, part, StandardCopyOption.REPLACE_EXISTING);
    Files.move(part, to, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Returns the bytes that a download of these files needs beyond what is already there. */
  long freeBytes() {
    try {
      Path existing = root.toAbsolutePath();
      while (!Files.exists(existing) && existing.getParent() != null) {
        existing = existing.getParent();
      }
      return Files.getFileStore(existing).getUsableSpace();
    } catch (IOException e) {
      return Long.MAX_VALUE; // a file system that does not tell
    }
  }

  /** Returns the repositories that have a snapshot, in order of their names. */
  List<HubReference> repositories() {
    if (!Files.isDirectory(root)) {
      return List.of();
    }
    try (Stream<Path> folders = Files.list(root)) {
      return folders
          .filter(folder -> Files.isDirectory(folder.resolve("snapshots")))
          .map(folder -> folder.getFileName().toString())
          .filter(name -> name.startsWith(FOLDER_PREFIX))
          .sorted()
          .map(name -> name.substring(FOLDER_PREFIX.length()).replaceFirst("--", "/"))
          .flatMap(name -> reference(name).stream())
          .toList();
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be read".formatted(root), e);
    }
  }

  /** Python's tools also keep repositories without an owner, which have no name here. */
  private static Optional<HubReference> reference(String name) {
    try {
      return Optional.of(HubReference.parse(HubReference.PREFIX + name));
    } catch (InvalidInputException e) {
      return Optional.empty();
    }
  }
}
