package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.JsonFile;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Settings of single layers that replace those of all, as newer folders state them in {@code
 * per_layer_config}: an object for each layer that differs, under its number.
 *
 * @param byLayer the object of each layer that has one
 */
record LayerOverrides(Map<Integer, JsonFile> byLayer) {
  private static final String KEY = "per_layer_config";
  private static final String HEAD_DIM = "head_dim";
  private static final String KV_HEADS = "num_key_value_heads";
  private static final Set<String> SUPPORTED = Set.of(HEAD_DIM, KV_HEADS);

  /** Fails if a file has settings of single layers. */
  static void requireNone(JsonFile json) {
    if (json.object(KEY).filter(each -> !each.root().isEmpty()).isPresent()) {
      throw new InvalidInputException(
          "%s: '%s' has settings of single layers; only those of Gemma 4 are supported"
              .formatted(json.name(), KEY));
    }
  }

  /** Reads the settings; empty if the file does not have any member for them. */
  static Optional<LayerOverrides> of(JsonFile json, int layers) {
    return json.object(KEY).map(each -> read(each, layers));
  }

  private static LayerOverrides read(JsonFile each, int layers) {
    Map<Integer, JsonFile> byLayer = new TreeMap<>();
    for (String key : each.root().keySet()) {
      // Numbers have leading zeros, so that they sort as texts.
      if (!key.matches("\\d{1,9}") || Integer.parseInt(key) >= layers) {
        throw new InvalidInputException(
            "%s: has a layer '%s'; expected 0 to %d".formatted(each.name(), key, layers - 1));
      }
      JsonFile layer = each.object(key).orElseThrow(() -> each.missing(key, "an object"));
      for (String setting : layer.root().keySet()) {
        if (!SUPPORTED.contains(setting)) {
          throw new InvalidInputException(
              "%s: states '%s'; only head_dim and num_key_value_heads are supported"
                  .formatted(layer.name(), setting));
        }
      }
      byLayer.put(Integer.parseInt(key), layer);
    }
    return new LayerOverrides(byLayer);
  }

  int headDim(int layer, int ofAll) {
    return setting(layer, HEAD_DIM, ofAll);
  }

  int kvHeads(int layer, int ofAll) {
    return setting(layer, KV_HEADS, ofAll);
  }

  private int setting(int layer, String key, int ofAll) {
    JsonFile found = byLayer.get(layer);
    return found == null ? ofAll : found.integer(key).orElse(ofAll);
  }
}
