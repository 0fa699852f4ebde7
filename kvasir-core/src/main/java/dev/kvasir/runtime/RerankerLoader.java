package dev.kvasir.runtime;

import dev.kvasir.LoadOptions;
import dev.kvasir.error.InvalidInputException;
import java.nio.file.Path;

/** Loads what scores documents: a cross-encoder, or a decoder that answers yes or no. */
public final class RerankerLoader {
  private RerankerLoader() {}

  public static LocalReranker load(String model, LoadOptions options) {
    Path path = NamedModel.path(model, options.progress());
    if (EncoderModel.isAt(path)) {
      EncoderModel encoder = EncoderModel.load(path, EngineOptions.of(options));
      try {
        return new BertReranker(encoder);
      } catch (InvalidInputException e) {
        encoder.close();
        throw e;
      }
    }
    LoadedModel loaded = LoadedModel.load(path, EngineOptions.of(options));
    try {
      return new DecoderReranker(loaded, loaded::close);
    } catch (RuntimeException e) {
      loaded.close();
      throw e;
    }
  }

  /**
   * Returns a reranker that uses a loaded decoder, which stays open.
   *
   * @throws InvalidInputException if the decoder cannot answer
   */
  public static LocalReranker of(LoadedModel model) {
    return new DecoderReranker(model, () -> {});
  }
}
