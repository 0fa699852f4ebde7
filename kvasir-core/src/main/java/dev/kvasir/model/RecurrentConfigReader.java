package dev.kvasir.model;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonPrimitive;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufMetadata;
import dev.kvasir.format.JsonFile;
import dev.kvasir.model.RecurrentConfig.Kind;
import java.util.List;
import java.util.Optional;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Reads which layers of a hybrid model are recurrent, and their sizes, from model files. */
final class RecurrentConfigReader {
  /** Layers of Qwen's hybrids of which the last one attends, unless a file states it. */
  private static final int INTERVAL = 4;

  /** Bounds the list of layers before any tensor has been found. */
  private static final int MAX_LAYERS = 1 << 16;

  private RecurrentConfigReader() {}

  /** Reads it from a GGUF file. */
  static ModelConfig of(String fileName, GgufMetadata metadata, ModelConfig plain) {
    String prefix = plain.architecture().identifier() + ".";
    return switch (plain.architecture()) {
      case LFM2, LFM2_MOE -> {
        long[] kvHeads = kvHeads(fileName, metadata, prefix, plain.layers());
        yield plain.withRecurrent(
            new RecurrentConfig(
                layers(plain, layer -> kvHeads[layer] == 0),
                new ShortConvConfig(
                    metadata.requireInteger(prefix + "shortconv.l_cache"), plain.hidden())));
      }
      case QWEN3_NEXT, QWEN35, QWEN35_MOE -> deltaNet(fileName, metadata, plain);
      case GRANITE_HYBRID -> {
        long[] kvHeads = kvHeads(fileName, metadata, prefix, plain.layers());
        yield plain.withRecurrent(
            new RecurrentConfig(
                layers(plain, layer -> kvHeads[layer] == 0), mamba(metadata, prefix)));
      }
      case NEMOTRON_H, NEMOTRON_H_MOE -> {
        long[] kvHeads = kvHeads(fileName, metadata, prefix, plain.layers());
        long[] widths =
            perLayer(fileName, metadata, prefix + "feed_forward_length", plain.layers());
        List<Kind> kinds =
            IntStream.range(0, plain.layers())
                .mapToObj(layer -> single(kvHeads[layer] != 0, widths[layer] != 0))
                .toList();
        yield plain.withRecurrent(new RecurrentConfig(kinds, mamba(metadata, prefix)));
      }
      default -> plain;
    };
  }

  /** Returns the kind of a layer that has only one part. */
  private static Kind single(boolean attends, boolean feedsForward) {
    if (feedsForward) {
      return Kind.ONLY_FEED_FORWARD;
    }
    return attends ? Kind.ONLY_ATTENTION : Kind.ONLY_RECURRENT;
  }

  private static Mamba2Config mamba(GgufMetadata metadata, String prefix) {
    int heads = metadata.requireInteger(prefix + "ssm.time_step_rank");
    return new Mamba2Config(
        metadata.requireInteger(prefix + "ssm.conv_kernel"),
        heads,
        metadata.requireInteger(prefix + "ssm.inner_size") / Math.max(1, heads),
        metadata.requireInteger(prefix + "ssm.group_count"),
        metadata.requireInteger(prefix + "ssm.state_size"),
        0,
        Double.POSITIVE_INFINITY);
  }

  private static ModelConfig deltaNet(String fileName, GgufMetadata metadata, ModelConfig plain) {
    String prefix = plain.architecture().identifier() + ".";
    int valueHeads = metadata.requireInteger(prefix + "ssm.time_step_rank");
    int values = metadata.requireInteger(prefix + "ssm.inner_size");
    int interval = metadata.integer(prefix + "full_attention_interval").orElse(INTERVAL);
    String key = prefix + "attention.recurrent_layers";
    Optional<boolean[]> listed = metadata.bools(key);
    if (listed.isPresent() && listed.get().length < plain.layers()) {
      throw new InvalidInputException(
          "%s: '%s' has %d entries; expected %d"
              .formatted(fileName, key, listed.get().length, plain.layers()));
    }
    return plain.withRecurrent(
        new RecurrentConfig(
            layers(
                plain, layer -> listed.map(all -> all[layer]).orElse(isBetween(layer, interval))),
            new DeltaNetConfig(
                metadata.requireInteger(prefix + "ssm.conv_kernel"),
                metadata.requireInteger(prefix + "ssm.group_count"),
                valueHeads,
                metadata.requireInteger(prefix + "ssm.state_size"),
                values / Math.max(1, valueHeads),
                // Conversion of Qwen 3.5 reorders the value heads, that of Qwen3-Next does not.
                plain.architecture() == Architecture.QWEN3_NEXT)));
  }

  /** Returns whether a layer is not the last one of an interval, which attends. */
  private static boolean isBetween(int layer, int interval) {
    return interval == 0 || (layer + 1) % interval != 0;
  }

  /** Returns the KV heads of each layer; recurrent layers have none. */
  private static long[] kvHeads(String fileName, GgufMetadata metadata, String prefix, int layers) {
    return perLayer(fileName, metadata, prefix + "attention.head_count_kv", layers);
  }

  private static long[] perLayer(String fileName, GgufMetadata metadata, String key, int layers) {
    if (!(metadata.value(key).orElse(null) instanceof long[] each)) {
      throw new InvalidInputException(
          "%s: '%s' must say which layers are recurrent; expected an array of %d integers"
              .formatted(fileName, key, layers));
    }
    // Layers of multi-token prediction come last and are not run.
    String predicting = key.substring(0, key.indexOf('.') + 1) + "nextn_predict_layers";
    if (each.length != layers + metadata.integer(predicting).orElse(0)) {
      throw new InvalidInputException(
          "%s: '%s' has %d entries; expected %d".formatted(fileName, key, each.length, layers));
    }
    return each;
  }

  private static List<Kind> layers(ModelConfig plain, IntPredicate isRecurrent) {
    if (plain.layers() > MAX_LAYERS) {
      throw new InvalidInputException(
          "%s: layers is %d; expected at most %d in a hybrid model"
              .formatted(plain.name(), plain.layers(), MAX_LAYERS));
    }
    return IntStream.range(0, plain.layers())
        .mapToObj(layer -> isRecurrent.test(layer) ? Kind.RECURRENT : Kind.ATTENTION)
        .toList();
  }

  /** Reads it from a Hugging Face folder. */
  static ModelConfig of(JsonFile json, ModelConfig plain) {
    return switch (plain.architecture()) {
      case LFM2, LFM2_MOE -> {
        if (json.bool("conv_bias").orElse(false)) {
          throw new InvalidInputException(
              "%s: 'conv_bias' is true; only convolutions without biases are supported"
                  .formatted(json.name()));
        }
        List<String> types = layerTypes(json, plain.layers());
        yield plain.withRecurrent(
            new RecurrentConfig(
                layers(plain, layer -> isRecurrent(json, types.get(layer))),
                new ShortConvConfig(json.integer("conv_L_cache").orElse(3), plain.hidden())));
      }
      case GRANITE_HYBRID -> {
        List<String> types = layerTypes(json, plain.layers());
        int heads = json.integer("mamba_n_heads").orElse(128);
        int inner = json.integer("mamba_expand").orElse(2) * plain.hidden();
        yield plain.withRecurrent(
            new RecurrentConfig(
                layers(plain, layer -> isRecurrent(json, types.get(layer))),
                new Mamba2Config(
                    json.integer("mamba_d_conv").orElse(4),
                    heads,
                    inner / Math.max(1, heads),
                    json.integer("mamba_n_groups").orElse(1),
                    json.integer("mamba_d_state").orElse(256),
                    stepLimit(json, 0),
                    stepLimit(json, 1))));
      }
      case NEMOTRON_H, NEMOTRON_H_MOE -> {
        String pattern = nemotronPattern(json);
        char feedForward = plain.architecture() == Architecture.NEMOTRON_H_MOE ? 'E' : '-';
        if (pattern.length() != plain.layers()
            || !pattern.matches("[M*%c]*".formatted(feedForward))) {
          throw new InvalidInputException(
              "%s: 'hybrid_override_pattern' is '%s'; expected %d of the characters M, * and %c"
                  .formatted(json.name(), pattern, plain.layers(), feedForward));
        }
        requireActivation(json, "mlp_hidden_act", "relu2");
        requireActivation(json, "mamba_hidden_act", "silu");
        List<Kind> kinds =
            pattern.chars().mapToObj(one -> single(one == '*', one == feedForward)).toList();
        yield plain.withRecurrent(
            new RecurrentConfig(
                kinds,
                new Mamba2Config(
                    json.integer("conv_kernel").orElse(4),
                    json.requireInteger("mamba_num_heads"),
                    json.requireInteger("mamba_head_dim"),
                    json.integer("n_groups").orElse(8),
                    json.integer("ssm_state_size").orElse(128),
                    // transformers has no upper limit, and takes the lower one from here.
                    json.number("time_step_min").orElse(0.001),
                    Double.POSITIVE_INFINITY)));
      }
      case QWEN3_NEXT, QWEN35, QWEN35_MOE -> {
        int interval = json.integer("full_attention_interval").orElse(INTERVAL);
        List<String> types = json.has("layer_types") ? layerTypes(json, plain.layers()) : List.of();
        yield plain.withRecurrent(
            new RecurrentConfig(
                layers(
                    plain,
                    layer ->
                        types.isEmpty()
                            ? isBetween(layer, interval)
                            : isRecurrent(json, types.get(layer))),
                new DeltaNetConfig(
                    json.integer("linear_conv_kernel_dim").orElse(4),
                    json.requireInteger("linear_num_key_heads"),
                    json.requireInteger("linear_num_value_heads"),
                    json.requireInteger("linear_key_head_dim"),
                    json.requireInteger("linear_value_head_dim"),
                    true)));
      }
      default -> plain;
    };
  }

  /**
   * Returns the lower or upper limit of step sizes. The upper one is usually infinite, which some
   * files state as a string or an object.
   */
  private static double stepLimit(JsonFile json, int index) {
    String key = "time_step_limit";
    double unlimited = index == 0 ? 0 : Double.POSITIVE_INFINITY;
    JsonArray limits = json.array(key).orElse(new JsonArray());
    if (limits.isEmpty()) {
      return unlimited;
    }
    if (limits.size() != 2) {
      throw json.wrong(key, limits, "two numbers");
    }
    if (limits.get(index) instanceof JsonPrimitive limit && limit.isNumber()) {
      return limit.getAsDouble();
    }
    if (limits.get(index).toString().contains("\"Infinity\"")) {
      return Double.POSITIVE_INFINITY;
    }
    throw json.wrong(key + "[" + index + "]", limits.get(index), "a number");
  }

  /** Returns a character for each layer of Nemotron-H; newer files have a list of words. */
  static String nemotronPattern(JsonFile json) {
    Optional<JsonArray> words = json.array("layers_block_type");
    if (words.isEmpty()) {
      return json.string("hybrid_override_pattern")
          .orElseThrow(() -> json.missing("hybrid_override_pattern", "a string"));
    }
    return words.get().asList().stream()
        .map(
            word ->
                switch (word.toString().replace("\"", "")) {
                  case "mamba", "linear_attention" -> "M";
                  case "attention", "full_attention" -> "*";
                  case "moe" -> "E";
                  case "mlp" -> "-";
                  default -> "?";
                })
        .collect(Collectors.joining());
  }

  private static void requireActivation(JsonFile json, String key, String expected) {
    String found = json.string(key).orElse(expected);
    if (!found.equals(expected)) {
      throw new InvalidInputException(
          "%s: '%s' is '%s'; only %s is supported".formatted(json.name(), key, found, expected));
    }
  }

  /** Returns whether a type of layers is recurrent; older files name some types differently. */
  private static boolean isRecurrent(JsonFile json, String type) {
    return switch (type) {
      case "linear_attention", "mamba", "conv" -> true;
      case "full_attention", "attention" -> false;
      default ->
          throw new InvalidInputException(
              "%s: 'layer_types' has '%s'; expected linear_attention, mamba, conv, full_attention or attention"
                  .formatted(json.name(), type));
    };
  }

  /** Returns the type of each layer; older files of LFM2 list the layers with attention. */
  private static List<String> layerTypes(JsonFile json, int layers) {
    JsonArray types = json.array("layer_types").orElse(null);
    if (types == null) {
      JsonArray full =
          json.array("full_attn_idxs")
              .orElseThrow(() -> json.missing("layer_types", "an array of strings"));
      List<String> attending = full.asList().stream().map(JsonElement::toString).toList();
      return IntStream.range(0, layers)
          .mapToObj(layer -> attending.contains("" + layer) ? "full_attention" : "conv")
          .toList();
    }
    if (types.size() != layers) {
      throw new InvalidInputException(
          "%s: 'layer_types' has %d entries; expected %d"
              .formatted(json.name(), types.size(), layers));
    }
    return types.asList().stream().map(one -> one.toString().replace("\"", "")).toList();
  }
}
