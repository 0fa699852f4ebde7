package dev.kvasir.cli.arguments;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.model.LoraAdapters;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** The adapters of a model. */
public final class AdapterArguments {
  @Option(
      names = "--lora",
      paramLabel = "FILE[,SCALE]",
      description =
          "Low-rank adapter of the model on the processor: a GGUF file, for a GGUF model, or a folder"
              + " of PEFT. Its effect is multiplied by SCALE. May be repeated.")
  private List<String> adapters = new ArrayList<>();

  public boolean isEmpty() {
    return adapters.isEmpty();
  }

  public List<LoraAdapters.Source> adapters() {
    return adapters.stream().map(AdapterArguments::adapter).toList();
  }

  private static LoraAdapters.Source adapter(String text) {
    int comma = text.lastIndexOf(',');
    String scale = comma < 0 ? "1" : text.substring(comma + 1);
    try {
      Path file = Path.of(comma < 0 ? text : text.substring(0, comma));
      return new LoraAdapters.Source(file, Float.parseFloat(scale));
    } catch (IllegalArgumentException e) {
      throw new InvalidInputException(
          "--lora is '%s'; expected FILE or FILE,SCALE with a number".formatted(text), e);
    }
  }
}
