package dev.kvasir.runtime;

import dev.kvasir.Embedder;
import dev.kvasir.Embedder.Pooling;
import dev.kvasir.LoadOptions;
import dev.kvasir.Model;
import dev.kvasir.encoder.BertEncoder;
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

  public static Embedder of(Model model, Pooling pooling) {
    return new DecoderEmbedder(LoadedModel.of(model), pooling, () -> {});
  }

  /**
   * @param pooling used instead of the one that the model's files state
   */
  public static Embedder load(String model, LoadOptions options, Optional<Pooling> pooling) {
    Path path = NamedModel.path(model, options.progress());
    Pooling chosen = pooling.or(() -> stated(path)).orElse(Pooling.MEAN);
    if (Files.isRegularFile(path.resolve("config.json"))
        && BertEncoder.isEncoder(JsonFile.read(path.resolve("config.json")))) {
      return BertEmbedder.load(path, EngineOptions.of(options), chosen);
    }
    if (Files.isRegularFile(path)) {
      try (GgufFile file = GgufFile.open(path)) {
        if (BertEncoder.isEncoder(file)) {
          return BertEmbedder.load(file, EngineOptions.of(options), chosen);
        }
      }
    }
    LoadedModel loaded = LoadedModel.load(path, EngineOptions.of(options));
    try {
      return new DecoderEmbedder(loaded, chosen, loaded::close);
    } catch (RuntimeException e) {
      loaded.close();
      throw e;
    }
  }

  /** Returns the pooling that the files state. */
  private static Optional<Pooling> stated(Path path) {
    if (Files.isDirectory(path)) {
      Path file = path.resolve("1_Pooling").resolve("config.json");
      return Files.isRegularFile(file) ? ofFolder(JsonFile.read(file)) : Optional.empty();
    }
    if (!Files.isRegularFile(path)) {
      return Optional.empty(); // the loader reports it
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
