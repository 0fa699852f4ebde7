package dev.kvasir.runtime;

import dev.kvasir.Embedder.Pooling;
import dev.kvasir.LoadOptions;
import dev.kvasir.Model;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.GgufMetadata;
import dev.kvasir.format.JsonFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;

/** Loads what makes embeddings: an encoder, or a decoder whose last hidden states are used. */
public final class EmbedderLoader {
  private EmbedderLoader() {}

  public static LocalEmbedder of(Model model, Pooling pooling) {
    return new DecoderEmbedder(LoadedModel.of(model), pooling, () -> {});
  }

  /** Returns an embedder of a loaded decoder with the pooling that its files state. */
  public static LocalEmbedder of(LoadedModel model) {
    return of(model, stated(Path.of(model.name())));
  }

  /**
   * @param pooling used instead of the one that the model's files state
   */
  public static LocalEmbedder load(String model, LoadOptions options, Optional<Pooling> pooling) {
    Path path = NamedModel.path(model, options.progress());
    EngineOptions loading = EngineOptions.of(options);
    Pooling chosen = pooling.orElseGet(() -> stated(path));
    if (EncoderModel.isAt(path)) {
      return new BertEmbedder(EncoderModel.load(path, loading), chosen);
    }
    LoadedModel loaded = LoadedModel.load(path, loading);
    try {
      return new DecoderEmbedder(loaded, chosen, loaded::close);
    } catch (RuntimeException e) {
      loaded.close();
      throw e;
    }
  }

  /** Returns the pooling that the files state; the mean if they state none. */
  static Pooling stated(Path path) {
    return find(path).orElse(Pooling.MEAN);
  }

  private static Optional<Pooling> find(Path path) {
    if (Files.isDirectory(path)) {
      Path file = path.resolve("1_Pooling").resolve("config.json");
      return Files.isRegularFile(file) ? ofFolder(JsonFile.read(file)) : Optional.empty();
    }
    if (!Files.isRegularFile(path)) {
      return Optional.empty(); // the bundled model, or one that the loader reports
    }
    try (GgufFile file = GgufFile.open(path)) {
      return ofGguf(file.metadata());
    }
  }

  private static Optional<Pooling> ofFolder(JsonFile file) {
    if (file.bool("pooling_mode_cls_token").orElse(false)) {
      return Optional.of(Pooling.FIRST);
    }
    if (file.bool("pooling_mode_lasttoken").orElse(false)) {
      return Optional.of(Pooling.LAST);
    }
    return file.bool("pooling_mode_mean_tokens").orElse(false)
        ? Optional.of(Pooling.MEAN)
        : Optional.empty();
  }

  /** The numbers are those of llama.cpp; 0 is no pooling. */
  private static Optional<Pooling> ofGguf(GgufMetadata metadata) {
    OptionalInt number =
        metadata
            .string("general.architecture")
            .map(architecture -> metadata.integer(architecture + ".pooling_type"))
            .orElse(OptionalInt.empty());
    return switch (number.orElse(0)) {
      case 1 -> Optional.of(Pooling.MEAN);
      case 2 -> Optional.of(Pooling.FIRST);
      case 3 -> Optional.of(Pooling.LAST);
      default -> Optional.empty();
    };
  }
}
