package dev.kvasir.model;

import com.google.gson.JsonArray;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.JsonFile;

/** Reads the sliding window of each layer from a {@code config.json}. */
final class HuggingFaceWindows {
  private HuggingFaceWindows() {}

  /**
   * Reads the windows. Mistral's applies to all layers, Gemma's to all but the last of every
   * period. Qwen's applies only with {@code use_sliding_window}, and then from layer {@code
   * max_window_layers} on. A list of layer types overrides all of these.
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
