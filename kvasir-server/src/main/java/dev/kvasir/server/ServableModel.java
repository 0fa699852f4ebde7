package dev.kvasir.server;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.chat.ServedModel;
import dev.kvasir.runtime.LoadedModel;
import java.nio.file.Path;
import java.util.List;

/** A model that a server of several models loads when a request needs it. */
public interface ServableModel {
  /** Returns the name that a server gives to a model: that of its file or folder. */
  static String nameOf(Path fileOrFolder) {
    return ServedModel.shortName(fileOrFolder.toString());
  }

  /** Returns the name by which requests select it. */
  String name();

  /**
   * Returns what it takes when loaded: weights and the limit of its KV caches.
   *
   * @throws dev.kvasir.error.InvalidInputException if its files cannot be read
   */
  long bytes();

  /** Returns the caches that requests may select; the first one is the default. */
  List<CacheSpec> cacheSpecs();

  /**
   * Loads the model.
   *
   * @throws dev.kvasir.error.InvalidInputException if it cannot be loaded
   */
  LoadedModel load();
}
