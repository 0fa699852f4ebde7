package dev.kvasir.hub;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Fetches models by name. A model that the cache has is not downloaded again; the hub is still
 * asked for the commit of the revision, unless that is a commit itself or the settings say offline.
 * If the hub does not answer, the cache is used as it is.
 */
public final class ModelHub {
  private static final String EXAMPLE = "hf:Qwen/Qwen3-0.6B-GGUF";

  /** Disks that run full are slow and break other programs. */
  private static final long SPARE_DISK_BYTES = 64L << 20;

  private final HubSettings settings;
  private final RetryPolicy retries;
  private final HubCache cache;

  public ModelHub(HubSettings settings) {
    this(settings, RetryPolicy.USUAL);
  }

  ModelHub(HubSettings settings, RetryPolicy retries) {
    this.settings = settings;
    this.retries = retries;
    this.cache = new HubCache(settings);
  }

  /**
   * Returns the file or folder that a user named, which is fetched if it is on a hub.
   *
   * @param model a path, or a reference such as {@code hf:owner/repo:Q4_K_M}
   * @throws InvalidInputException if a reference is malformed or cannot be fetched
   */
  public static Path resolve(String model, HubListener listener) {
    if (HubReference.isReference(model)) {
      return new ModelHub(HubSettings.ofThisProcess()).fetch(HubReference.parse(model), listener);
    }
    Path path = path(model);
    if (!Files.exists(path)) {
      throw new InvalidInputException(
          HubReference.looksLikeName(model)
              ? "%s: no such file or folder; hf:%s is the name of a model on Hugging Face"
                  .formatted(model, model)
              : "%s: no such file; expected a GGUF file, a folder or a name such as %s"
                  .formatted(model, EXAMPLE));
    }
    return path;
  }

  private static Path path(String model) {
    try {
      return Path.of(model);
    } catch (InvalidPathException e) {
      throw new InvalidInputException(
          "the model is '%s'; expected a file, a folder or hf:OWNER/REPO".formatted(model), e);
    }
  }

  /** Returns the file or folder to load, after downloading what the cache lacks. */
  public Path fetch(HubReference reference, HubListener listener) {
    if (settings.offline()) {
      return cached(reference)
          .orElseThrow(
              () ->
                  new InvalidInputException(
                      "%s: is not in the cache %s, and HF_HUB_OFFLINE is set"
                          .formatted(reference, cache.root())));
    }
    if (reference.isCommit() && reference.selector().isPresent()) {
      Optional<Path> found = cached(reference);
      if (found.isPresent()) {
        return found.get();
      }
    }
    try (HubHttp http = new HubHttp(settings, retries)) {
      return fetch(reference, http, listener);
    } catch (HubUnreachableException e) {
      Optional<Path> found =
          Thread.currentThread().isInterrupted() ? Optional.empty() : cached(reference);
      found.ifPresent(path -> listener.note(e.getMessage() + "; the cached model is used"));
      return found.orElseThrow(() -> e);
    }
  }

  /** Returns what the cache has for a reference, if that is complete. */
  private Optional<Path> cached(HubReference reference) {
    Optional<HubListing> listing = cache.listing(reference);
    if (listing.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(path(ModelChoice.of(reference, listing.get()), listing.get().commit()));
    } catch (InvalidInputException e) {
      return Optional.empty(); // other files of the repository are cached
    }
  }

  private Path path(ModelChoice choice, String commit) {
    return choice
        .entry()
        .map(entry -> cache.file(choice.reference(), commit, entry))
        .orElse(cache.snapshot(choice.reference(), commit))
        .toAbsolutePath();
  }

  private Path fetch(HubReference reference, HubHttp http, HubListener listener) {
    HubClient client = new HubClient(http);
    // A start with a cached model should not wait long for a hub that is not there.
    boolean isCached = cached(reference).isPresent();
    HubListing listing =
        isCached ? new HubClient(http.withoutRetries()).list(reference) : client.list(reference);
    ModelChoice choice = ModelChoice.of(reference, listing);
    List<HubFile> missing =
        choice.files().stream()
            .filter(file -> !cache.has(reference, listing.commit(), file))
            .toList();
    if (!missing.isEmpty()) {
      download(choice, listing.commit(), missing, client, http, listener);
    }
    cache.saveCommit(reference, listing.commit());
    return path(choice, listing.commit());
  }

  private void download(
      ModelChoice choice,
      String commit,
      List<HubFile> missing,
      HubClient client,
      HubHttp http,
      HubListener listener) {
    HubReference reference = choice.reference();
    List<HubDownload> downloads = new ArrayList<>();
    for (HubFile file : missing) {
      downloads.add(HubDownload.of(reference, commit, file, cache, client));
    }
    long total = downloads.stream().mapToLong(HubDownload::bytes).sum();
    long there = downloads.stream().mapToLong(HubDownload::bytesThere).sum();
    requireDisk(reference, total - there);
    listener.planned(
        new HubListener.Plan(
            reference.toString(),
            choice.files().stream().map(HubFile::path).toList(),
            total - there,
            weightBytes(choice, commit, downloads)));
    long finished = 0;
    for (HubDownload each : downloads) {
      long before = finished;
      each.run(http, listener, done -> listener.downloaded(before + done, total));
      finished += each.bytes();
      listener.downloaded(finished, total);
    }
  }

  private long weightBytes(ModelChoice choice, String commit, List<HubDownload> downloads) {
    long bytes = 0;
    for (HubFile file : choice.files()) {
      if (SafetensorsFiles.isWeights(file)) {
        bytes += sizeOf(choice.reference(), commit, file, downloads);
      }
    }
    return bytes;
  }

  private long sizeOf(
      HubReference reference, String commit, HubFile file, List<HubDownload> downloads) {
    OptionalLong planned =
        downloads.stream()
            .filter(each -> each.file().path().equals(file.path()))
            .mapToLong(HubDownload::bytes)
            .findFirst();
    try {
      return planned.isPresent()
          ? planned.getAsLong()
          : Files.size(cache.file(reference, commit, file.path()));
    } catch (IOException e) {
      return file.bytes().orElse(0);
    }
  }

  private void requireDisk(HubReference reference, long bytes) {
    long free = cache.freeBytes();
    if (bytes > 0 && free - SPARE_DISK_BYTES < bytes) {
      throw new InvalidInputException(
          "%s: %d MiB are to be downloaded, and the disk of %s has %d MiB; HF_HUB_CACHE names another folder"
              .formatted(reference, Math.ceilDiv(bytes, 1L << 20), cache.root(), free >> 20));
    }
  }
}
