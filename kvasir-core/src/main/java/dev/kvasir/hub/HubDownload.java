package dev.kvasir.hub;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

/** One file of a snapshot that has to be fetched, or linked to a blob that is already there. */
final class HubDownload {
  private final HubReference reference;
  private final String commit;
  private final HubFile file;
  private final HubCache cache;
  private final Supplier<BlobLocation> lookUp;
  private final Optional<BlobLocation> location;
  private final String tag;
  private final long bytes;

  private HubDownload(
      HubReference reference,
      String commit,
      HubFile file,
      HubCache cache,
      Supplier<BlobLocation> lookUp,
      Optional<BlobLocation> location,
      String tag,
      long bytes) {
    this.reference = reference;
    this.commit = commit;
    this.file = file;
    this.cache = cache;
    this.lookUp = lookUp;
    this.location = location;
    this.tag = tag;
    this.bytes = bytes;
  }

  /** Asks the hub where the file is, unless the cache has a blob of its hash and size. */
  static HubDownload of(
      HubReference reference, String commit, HubFile file, HubCache cache, HubClient client) {
    Supplier<BlobLocation> lookUp = () -> client.locate(reference, commit, file);
    Optional<String> known = file.hash().map(BlobHash::digits);
    if (known.isPresent()
        && file.bytes().isPresent()
        && HubCache.hasSize(cache.blob(reference, known.get()), file.bytes())) {
      long bytes = file.bytes().getAsLong();
      return new HubDownload(
          reference, commit, file, cache, lookUp, Optional.empty(), known.get(), bytes);
    }
    BlobLocation location = lookUp.get();
    return new HubDownload(
        reference,
        commit,
        file,
        cache,
        lookUp,
        Optional.of(location),
        location.tag(),
        size(reference, file, location.bytes()));
  }

  private static long size(HubReference reference, HubFile file, OptionalLong stated) {
    if (stated.isPresent()
        && file.bytes().isPresent()
        && stated.getAsLong() != file.bytes().getAsLong()) {
      throw new InvalidInputException(
          "%s: %s has %d bytes where it is stored; its listing has %d"
              .formatted(reference, file.path(), stated.getAsLong(), file.bytes().getAsLong()));
    }
    OptionalLong size = stated.isPresent() ? stated : file.bytes();
    return size.orElseThrow(
        () ->
            new InvalidInputException(
                "%s: the hub states no size of %s".formatted(reference, file.path())));
  }

  HubFile file() {
    return file;
  }

  long bytes() {
    return bytes;
  }

  /** Returns the bytes that need not be downloaded. */
  long bytesThere() {
    Path blob = cache.blob(reference, tag);
    Path incomplete = cache.incomplete(reference, tag);
    try {
      if (Files.exists(blob)) {
        return bytes;
      }
      return Files.exists(incomplete) ? Math.min(bytes, Files.size(incomplete)) : 0;
    } catch (IOException e) {
      return 0;
    }
  }

  /** Puts the file into its snapshot. If another process downloads it, this one waits. */
  void run(HubHttp http, HubListener listener, LongConsumer onProgress) {
    cache.createFolders(reference, tag);
    Runnable onWait =
        () -> listener.note("%s: another process downloads it".formatted(file.path()));
    try (BlobLock _ = BlobLock.acquire(cache.lock(reference, tag), onWait)) {
      if (cache.has(
          reference, commit, new HubFile(file.path(), OptionalLong.of(bytes), file.hash()))) {
        return; // the other process linked it
      }
      boolean isNew = !HubCache.hasSize(cache.blob(reference, tag), OptionalLong.of(bytes));
      if (isNew) {
        download(http, onProgress);
      }
      cache.link(reference, commit, file.path(), tag, isNew);
    }
  }

  private void download(HubHttp http, LongConsumer onProgress) {
    BlobLocation from = location.orElseGet(lookUp);
    // The listing's hash is the first choice: the tag comes from wherever the bytes are.
    Optional<BlobHash> expected = file.hash().or(() -> BlobHash.of(tag));
    BlobSource source =
        new BlobSource(reference.repository() + "/" + file.path(), bytes, http, from, lookUp);
    new BlobDownload(
            source,
            cache.incomplete(reference, tag),
            cache.blob(reference, tag),
            expected,
            onProgress)
        .run();
  }
}
