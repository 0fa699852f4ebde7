package dev.kvasir.hub;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Lists and removes the models of a cache. */
public final class CachedModels {
  private final HubCache cache;

  public CachedModels(HubCache cache) {
    this.cache = cache;
  }

  /** Returns the models that can be loaded, in order of their names. */
  public List<CachedModel> all() {
    List<CachedModel> models = new ArrayList<>();
    for (HubReference repository : cache.repositories()) {
      for (String commit : commits(repository)) {
        HubListing listing = cache.listing(repository, commit);
        String revision = revision(repository, commit);
        HubReference named =
            new HubReference(repository.owner(), repository.repo(), Optional.empty(), revision);
        for (ModelChoice choice : choices(named, listing)) {
          models.add(model(choice, commit));
        }
      }
    }
    return List.copyOf(models);
  }

  /** Returns every model of a snapshot whose files are all there. */
  private static List<ModelChoice> choices(HubReference reference, HubListing listing) {
    List<GgufModel> models = GgufModel.in(listing.files());
    List<ModelChoice> choices = new ArrayList<>();
    for (GgufModel model : models) {
      if (model.complete()) {
        String selector = ModelChoice.shortSelector(model, models);
        choices.add(ModelChoice.of(reference.withSelector(selector), listing));
      }
    }
    if (SafetensorsFiles.isIn(listing)) {
      HubReference folder =
          models.isEmpty() ? reference : reference.withSelector(ModelChoice.SAFETENSORS);
      try {
        choices.add(ModelChoice.of(folder, listing));
      } catch (InvalidInputException e) {
        return choices; // shards are missing
      }
    }
    return choices;
  }

  private CachedModel model(ModelChoice choice, String commit) {
    long bytes = 0;
    Instant changed = Instant.EPOCH;
    for (HubFile file : choice.files()) {
      Path path = cache.file(choice.reference(), commit, file.path());
      bytes += file.bytes().orElse(0);
      Instant time = changedAt(path);
      changed = time.isAfter(changed) ? time : changed;
    }
    return new CachedModel(
        choice.reference().toString(),
        choice
            .entry()
            .map(entry -> cache.file(choice.reference(), commit, entry))
            .orElse(cache.snapshot(choice.reference(), commit)),
        commit,
        bytes,
        changed);
  }

  private static Instant changedAt(Path file) {
    try {
      return Files.getLastModifiedTime(file).toInstant();
    } catch (IOException e) {
      return Instant.EPOCH;
    }
  }

  private List<String> commits(HubReference repository) {
    try (Stream<Path> folders = Files.list(cache.snapshots(repository))) {
      return folders
          .filter(Files::isDirectory)
          .map(folder -> folder.getFileName().toString())
          .sorted()
          .toList();
    } catch (NoSuchFileException e) {
      return List.of();
    } catch (IOException e) {
      throw new InvalidInputException(
          "%s: cannot be read".formatted(cache.snapshots(repository)), e);
    }
  }

  /** Returns the branch or tag of a commit, the default branch first; else the commit itself. */
  private String revision(HubReference repository, String commit) {
    if (cache.commit(repository).filter(commit::equals).isPresent()) {
      return HubReference.DEFAULT_REVISION;
    }
    return refs(repository).stream()
        .filter(
            revision -> cache.commit(at(repository, revision)).filter(commit::equals).isPresent())
        .findFirst()
        .orElse(commit);
  }

  private static HubReference at(HubReference repository, String revision) {
    return new HubReference(repository.owner(), repository.repo(), Optional.empty(), revision);
  }

  private List<String> refs(HubReference repository) {
    Path refs = cache.folder(repository).resolve("refs");
    if (!Files.isDirectory(refs)) {
      return List.of();
    }
    try (Stream<Path> files = Files.walk(refs)) {
      return files
          .filter(Files::isRegularFile)
          .map(file -> refs.relativize(file).toString().replace('\\', '/'))
          .sorted()
          .toList();
    } catch (IOException | UncheckedIOException e) {
      return List.of();
    }
  }

  /**
   * Removes a repository, or only the files that a selector or a revision names, and all content
   * that nothing refers to afterwards.
   *
   * @return the bytes that became free
   * @throws InvalidInputException if the cache does not have it
   */
  public long remove(HubReference reference) {
    Path folder = cache.folder(reference);
    if (!Files.isDirectory(folder)) {
      throw missing(reference);
    }
    try {
      long before = bytes(folder);
      boolean isAll =
          reference.selector().isEmpty()
              && reference.revision().equals(HubReference.DEFAULT_REVISION);
      if (isAll) {
        delete(folder);
        delete(cache.lock(reference, "any").getParent());
        return before;
      }
      removeSelected(reference);
      removeUnused(reference);
      return before - bytes(folder);
    } catch (IOException | UncheckedIOException e) {
      throw new InvalidInputException(
          "%s: cannot be removed: %s".formatted(folder, e.getMessage()), e);
    }
  }

  private void removeSelected(HubReference reference) throws IOException {
    boolean isAnyRevision = reference.revision().equals(HubReference.DEFAULT_REVISION);
    List<String> commits =
        isAnyRevision ? commits(reference) : cache.commit(reference).stream().toList();
    boolean isFound = false;
    for (String commit : commits) {
      if (Files.isDirectory(cache.snapshot(reference, commit))) {
        isFound |= removeFrom(commit, reference);
      }
    }
    if (!isFound) {
      throw missing(reference);
    }
  }

  private boolean removeFrom(String commit, HubReference reference) throws IOException {
    if (reference.selector().isEmpty()) {
      delete(cache.snapshot(reference, commit));
      return true;
    }
    HubListing listing = cache.listing(reference, commit);
    String typed = reference.selector().get();
    for (ModelChoice choice : choices(reference, listing)) {
      boolean isNamed =
          choice.reference().selector().filter(typed::equalsIgnoreCase).isPresent()
              || choice.entry().filter(typed::equals).isPresent();
      if (isNamed) {
        for (HubFile file : choice.files()) {
          Files.deleteIfExists(cache.file(reference, commit, file.path()));
        }
        return true;
      }
    }
    return false;
  }

  private InvalidInputException missing(HubReference reference) {
    return new InvalidInputException(
        "%s: is not in the cache %s; 'kvasir list' shows what is"
            .formatted(reference, cache.root()));
  }

  /** Removes snapshots without files, names of such snapshots, and blobs without a link. */
  private void removeUnused(HubReference reference) throws IOException {
    Set<Path> used = new HashSet<>();
    for (String commit : commits(reference)) {
      Path snapshot = cache.snapshot(reference, commit);
      List<Path> links = files(snapshot);
      if (links.isEmpty()) {
        delete(snapshot);
      }
      for (Path link : links) {
        if (Files.exists(link)) {
          used.add(link.toRealPath());
        }
      }
    }
    for (String revision : refs(reference)) {
      HubReference named = at(reference, revision);
      boolean isEmpty =
          cache
              .commit(named)
              .map(commit -> !Files.isDirectory(cache.snapshot(named, commit)))
              .orElse(true);
      if (isEmpty) {
        Files.deleteIfExists(SafePath.resolve(cache.folder(reference).resolve("refs"), revision));
      }
    }
    for (Path blob : files(cache.folder(reference).resolve("blobs"))) {
      if (!used.contains(blob.toRealPath()) && !blob.toString().endsWith(".incomplete")) {
        Files.delete(blob);
      }
    }
    if (commits(reference).isEmpty()) {
      delete(cache.folder(reference));
    }
  }

  /** Returns files and links, without following links to folders. */
  private static List<Path> files(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(file -> !Files.isDirectory(file)).toList();
    }
  }

  private static long bytes(Path folder) throws IOException {
    long bytes = 0;
    for (Path file : files(folder)) {
      bytes += Files.isSymbolicLink(file) ? 0 : Files.size(file);
    }
    return bytes;
  }

  /** Deletes a folder with all that is in it; a link is deleted, not what it points to. */
  private static void delete(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path each, IOException failure)
              throws IOException {
            if (failure != null) {
              throw failure;
            }
            Files.delete(each);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
