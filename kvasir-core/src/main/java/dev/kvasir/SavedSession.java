package dev.kvasir;

import dev.kvasir.cache.CacheForm;
import dev.kvasir.cache.CacheFullException;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.Form;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.stored.Identity;
import dev.kvasir.stored.SessionFile;
import dev.kvasir.stored.StoredSequence;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;

/** A session on its way to a file and back. */
final class SavedSession {
  private SavedSession() {}

  static void save(Model model, SessionOptions options, int[] tokens, KvCache cache, Path file) {
    Identity identity = model.identity(options);
    cache.enter();
    try {
      CacheForm form = cache.form();
      SessionFile.write(
          file,
          identity,
          tokens,
          form,
          names ->
              new StoredSequence(
                  identity,
                  options.cache().text(),
                  options.contextLimit(),
                  options.prefill() == Prefill.EXACT,
                  Instant.now(),
                  tokens,
                  form.length(),
                  names,
                  Form.of(form.rest())));
    } finally {
      cache.leave();
    }
  }

  static Session restore(Model model, Path path) {
    try (SessionFile file = SessionFile.open(path)) {
      StoredSequence stored = file.sequence();
      SessionOptions options = options(stored);
      Optional<String> difference = model.identity(options).differenceOf(stored.identity());
      if (difference.isPresent()) {
        throw new InvalidInputException(difference.get());
      }
      model.checkIds(stored.tokens());
      KvCache cache = model.restoredCache(options, file.cache());
      return Session.on(model, options, stored.tokens(), cache);
    } catch (CacheFullException e) {
      throw e; // which says nothing of the file
    } catch (InvalidInputException e) {
      throw SessionFile.named(path, e);
    }
  }

  private static SessionOptions options(StoredSequence stored) {
    return new SessionOptions(
        CacheSpec.parse(stored.typed()),
        stored.contextLimit(),
        stored.readsExactly() ? Prefill.EXACT : Prefill.CHUNKED,
        "");
  }
}
