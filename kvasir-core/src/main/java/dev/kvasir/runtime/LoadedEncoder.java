package dev.kvasir.runtime;

import dev.kvasir.Embedder.Pooling;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What a loaded encoder is for: it scores pairs of texts if it has a head, and else embeds texts.
 * Closing either frees the encoder.
 */
public record LoadedEncoder(Optional<LocalEmbedder> embedder, Optional<LocalReranker> reranker)
    implements AutoCloseable {
  /** Returns whether a file or folder is that of an encoder, which generates no text. */
  public static boolean isAt(Path fileOrFolder) {
    return EncoderModel.isAt(fileOrFolder);
  }

  public static LoadedEncoder load(Path fileOrFolder, EngineOptions options) {
    Pooling pooling = EmbedderLoader.stated(fileOrFolder); // first, since it may be refused
    EncoderModel model = EncoderModel.load(fileOrFolder, options);
    if (model.encoder().scores()) {
      return new LoadedEncoder(Optional.empty(), Optional.of(new BertReranker(model)));
    }
    LocalEmbedder embedder = new BertEmbedder(model, pooling);
    return new LoadedEncoder(Optional.of(embedder), Optional.empty());
  }

  public String name() {
    return embedder
        .map(LocalEmbedder::name)
        .or(() -> reranker.map(LocalReranker::name))
        .orElseThrow();
  }

  @Override
  public void close() {
    embedder.ifPresent(LocalEmbedder::close);
    reranker.ifPresent(LocalReranker::close);
  }
}
