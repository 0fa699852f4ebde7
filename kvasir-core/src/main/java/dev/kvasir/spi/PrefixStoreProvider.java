package dev.kvasir.spi;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.runtime.LoadedModel;
import java.util.List;
import java.util.ServiceLoader;
import java.util.function.Consumer;

/** Opens stores of cached prefixes. The service loader finds the one of the module kvasir-store. */
public interface PrefixStoreProvider {
  /**
   * @throws InvalidInputException if the text is not the address of a store
   */
  void checkAddress(String address);

  /**
   * Opens a store and connects it to the prefix cache of a model.
   *
   * @param cacheSpecs specs that requests may select
   * @param contextLimit tokens of a conversation
   * @param log receives a sentence when a store fails or opening takes long
   * @throws InvalidInputException if a store cannot be written to
   */
  PrefixStore open(
      LoadedModel model,
      List<String> addresses,
      List<CacheSpec> cacheSpecs,
      int contextLimit,
      Consumer<String> log);

  /**
   * @throws InvalidInputException if there is no provider
   */
  static PrefixStoreProvider find() {
    return ServiceLoader.load(PrefixStoreProvider.class)
        .findFirst()
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "a store was given; add the module kvasir-store to the class path"));
  }
}
