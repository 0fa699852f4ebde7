package dev.kvasir.cli.arguments;

import dev.kvasir.LoadOptions.Device;
import dev.kvasir.LoadOptions.Speculation;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.runtime.DeviceChoice;
import dev.kvasir.runtime.EngineOptions;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** What proposes tokens, so that one step verifies several. */
public final class SpeculationArguments {
  @Option(
      names = "--speculate",
      paramLabel = "KIND|MODEL",
      defaultValue = "auto",
      description =
          "Verify several proposed tokens in one step; the text stays the same. off; ngram,"
              + " from repetitions in the prompt and the answer; auto, ngram where the device"
              + " supports it; or a smaller model with the same vocabulary, a GGUF file or a"
              + " folder. Default: ${DEFAULT-VALUE}.")
  private String kind;

  /**
   * Adds the choice to options.
   *
   * @throws InvalidInputException if it is unknown, or the device cannot verify tokens
   */
  public EngineOptions addTo(EngineOptions options) {
    Speculation speculation = speculation();
    DeviceChoice device = options.device();
    boolean isExplicit =
        speculation.kind() == Speculation.Kind.NGRAM
            || speculation.kind() == Speculation.Kind.MODEL;
    if (isExplicit && device.kind() == Device.Kind.CUDA) {
      throw new InvalidInputException(
          "--speculate is %s; with --device cuda expected off or auto, since a card gives several"
                  .formatted(kind)
              + " tokens other bits than one");
    }
    return options.withSpeculation(speculation);
  }

  public boolean hasDraftModel() {
    return speculation().kind() == Speculation.Kind.MODEL;
  }

  /**
   * Returns what the KV cache of a draft model takes beside one of {@code tokens} tokens, and 0
   * without a draft model.
   */
  public long draftBytes(int tokens) {
    return switch (speculation().kind()) {
      case MODEL -> draftBytes(model(), tokens);
      case OFF, NGRAM, AUTO -> 0;
    };
  }

  private static long draftBytes(Path model, int tokens) {
    ModelOutline draft = ModelArguments.of(new ModelLocation(model)).outline(new LoadArguments());
    int longest = Math.min(tokens, draft.config().contextLength());
    return draft.sequenceBytes(CacheSpec.DEFAULT, Optional.empty(), longest);
  }

  private Speculation speculation() {
    return switch (kind) {
      case "off" -> Speculation.off();
      case "ngram" -> Speculation.ngram();
      case "auto" -> Speculation.auto();
      default -> Speculation.draftModel(model());
    };
  }

  private Path model() {
    try {
      Path file = Path.of(kind);
      if (Files.exists(file)) {
        return file;
      }
    } catch (InvalidPathException e) {
      // no path either
    }
    throw new InvalidInputException(
        "--speculate is '%s'; expected off, ngram, auto, or a model that exists".formatted(kind));
  }
}
