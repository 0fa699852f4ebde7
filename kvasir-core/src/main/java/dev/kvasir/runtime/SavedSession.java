package dev.kvasir.runtime;

import dev.kvasir.SessionOptions;
import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.CacheContents;
import dev.kvasir.cache.CacheFullException;
import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.stored.Identity;
import dev.kvasir.stored.SessionFile;
import dev.kvasir.stored.StoredSequence;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;

/** Saves sessions to files and restores them. */
final class SavedSession {
  private SavedSession() {}

  static void save(
      LoadedModel model, SessionOptions options, int[] tokens, CacheContents cache, Path file) {
    model.requireStorable(CacheSpec.of(options.cache()));
    Identity identity = model.identity(options);
    cache.pin();
    try {
      CacheSnapshot snapshot = cache.snapshot();
      SessionFile.write(
          file,
          identity,
          tokens,
          snapshot,
          names ->
              new StoredSequence(
                  identity,
                  options.cache().text(),
                  options.contextLimit(),
                  options.prefill() == Prefill.EXACT,
                  Instant.now(),
                  tokens,
                  snapshot.length(),
                  names,
                  Snapshot.of(snapshot.residual())));
    } finally {
      cache.unpin();
    }
  }

  static ModelSession restore(LoadedModel model, Path path) {
    try (SessionFile file = SessionFile.open(path)) {
      StoredSequence stored = file.sequence();
      SessionOptions options = options(stored);
      Optional<String> difference = model.identity(options).differenceOf(stored.identity());
      if (difference.isPresent()) {
        throw new InvalidInputException(difference.get());
      }
      model.checkIds(stored.tokens());
      KvCache cache = model.restoreCache(options, file.cache());
      return ModelSession.open(model, options, stored.tokens(), cache);
    } catch (CacheFullException e) {
      throw e; // not caused by the file
    } catch (InvalidInputException e) {
      throw SessionFile.withPath(path, e);
    }
  }

  private static SessionOptions options(StoredSequence stored) {
    return new SessionOptions(
        CacheSpec.parse(stored.cacheSpec()),
        stored.contextLimit(),
        stored.defersQuantization() ? Prefill.EXACT : Prefill.CHUNKED,
        "");
  }
}
