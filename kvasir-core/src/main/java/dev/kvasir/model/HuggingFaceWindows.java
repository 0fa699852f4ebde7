package dev.kvasir.model;

import com.google.gson.JsonArray;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.JsonFile;

/** Reads from a {@code config.json} how far back each layer looks. */
final class HuggingFaceWindows {
  private HuggingFaceWindows() {}

  /**
   * Mistral's window holds for all layers, Gemma's for all but every so manyth. Qwen's holds only
   * where {@code use_sliding_window} says so, and then from layer {@code max_window_layers} on. A
   * list of layer types beats them all.
   */
  static WindowPattern read(JsonFile json, Architecture architecture, int layers) {
    ArchitectureTraits traits = architecture.traits();
    int window = json.integer("sliding_window").orElse(0);
    if (window == 0 || !json.bool("use_sliding_window").orElse(traits.slidesByDefault())) {
      return WindowPattern.FULL;
    }
    if (json.array("layer_types").isPresent()) {
      JsonArray types = json.array("layer_types").get();
      if (types.size() != layers) {
        throw new InvalidInputException(
            "%s: 'layer_types' has %d entries; expected %d"
                .formatted(json.name(), types.size(), layers));
      }
      return layer ->
          types.get(layer).toString().contains("sliding") ? window : WindowPattern.UNBOUNDED;
    }
    if (traits.localPeriod() > 0) {
      String key = json.has("sliding_window_pattern") ? "" : "_";
      int period = json.integer(key + "sliding_window_pattern").orElse(traits.localPeriod());
      return WindowPattern.exceptEvery(period, window);
    }
    int firstSliding = json.integer("max_window_layers").orElse(0);
    return layer -> layer >= firstSliding ? window : WindowPattern.UNBOUNDED;
  }
}
