package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import java.nio.file.Files;
import java.util.List;

/** A low-rank adapter, copied from its files. */
sealed interface LoraAdapter permits GgufAdapter, PeftAdapter {
  /** Reads a GGUF file, or a folder of PEFT. */
  static LoraAdapter read(LoraAdapters.Source source) {
    if (!Float.isFinite(source.scale())) {
      throw new InvalidInputException(
          "%s: the scale is %s; expected a finite number".formatted(source.file(), source.scale()));
    }
    return Files.isDirectory(source.file())
        ? PeftAdapter.read(source.file(), source.scale())
        : GgufAdapter.read(source.file(), source.scale());
  }

  /** Returns the file or folder that it was read from. */
  String name();

  /** Returns a hash of its factors and their scales. */
  byte[] hash();

  /**
   * Returns its factors by the names of a model's tensors.
   *
   * @throws InvalidInputException if it does not fit the model
   */
  List<LoraPair> pairsOf(ModelConfig config, TensorNames names, String modelFile);
}
