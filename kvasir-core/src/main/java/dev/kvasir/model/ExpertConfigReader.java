package dev.kvasir.model;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufMetadata;
import dev.kvasir.format.JsonFile;
import dev.kvasir.model.Routing.Groups;
import dev.kvasir.model.Routing.Score;
import java.util.List;

/** Reads the expert configuration from model files, in addition to the decoder's. */
final class ExpertConfigReader {
  // Values of expert_gating_func in GGUF.
  private static final int SOFTMAX = 1;
  private static final int SIGMOID = 2;

  private ExpertConfigReader() {}

  /**
   * Reads it from a GGUF file.
   *
   * @param plain configuration without experts; returned as is for a dense model
   */
  static ModelConfig of(String fileName, GgufMetadata metadata, ModelConfig plain) {
    String prefix = plain.architecture().identifier() + ".";
    int count = metadata.integer(prefix + "expert_count").orElse(0);
    if (count == 0 && !plain.architecture().hasExperts()) {
      return plain;
    }
    int used = metadata.requireInteger(prefix + "expert_used_count");
    int width =
        metadata
            .integer(prefix + "expert_feed_forward_length")
            .orElseGet(() -> defaultExpertWidth(plain, used));
    ExpertConfig experts =
        switch (plain.architecture()) {
          case LLAMA, QWEN3_MOE -> withoutSharedExpert(count, used, width, Routing.softmax(true));
          case QWEN2_MOE -> {
            String key = prefix + "expert_shared_feed_forward_length";
            int shared = metadata.integer(key).orElse(plain.feedForward());
            yield withSharedGate(count, used, width, shared, Routing.softmax(false));
          }
          case QWEN3_NEXT, QWEN35_MOE -> {
            String key = prefix + "expert_shared_feed_forward_length";
            int shared = metadata.integer(key).orElse(plain.feedForward());
            yield withSharedGate(count, used, width, shared, Routing.softmax(true));
          }
          case GPT_OSS -> gptOss(count, used, width);
          case DEEPSEEK2, GLM4_MOE -> deepSeek(metadata, plain);
          case LFM2_MOE ->
              withoutSharedExpert(count, used, width, sigmoid(metadata, prefix, true))
                  .withLeadingDense(
                      metadata.integer(prefix + "leading_dense_block_count").orElse(0));
          case GRANITE_HYBRID ->
              withSharedExpert(
                  count,
                  used,
                  plain.feedForward(),
                  metadata.integer(prefix + "expert_shared_feed_forward_length").orElse(0),
                  softmax(metadata, prefix),
                  Activation.SILU);
          case NEMOTRON_H_MOE ->
              withSharedExpert(
                      count,
                      used,
                      width,
                      metadata.requireInteger(prefix + "expert_shared_feed_forward_length"),
                      sigmoid(metadata, prefix, false),
                      Activation.SQUARED_RELU)
                  .withLatent(metadata.integer(prefix + "moe_latent_size").orElse(0));
          case GEMMA4 ->
              new ExpertConfig(
                  count, used, width, 0, false, 0, Routing.softmax(true), Activation.GELU);
          default -> throw unsupportedMixture(fileName, plain);
        };
    return plain.withExperts(experts);
  }

  private static Routing softmax(GgufMetadata metadata, String prefix) {
    return new Routing(Score.SOFTMAX, Groups.NONE, true, weightScale(metadata, prefix));
  }

  /**
   * Returns routing by sigmoids.
   *
   * @param normalized whether weights are normalized unless the file states it
   */
  private static Routing sigmoid(GgufMetadata metadata, String prefix, boolean normalized) {
    return new Routing(
        Score.SIGMOID,
        Groups.NONE,
        metadata.bool(prefix + "expert_weights_norm").orElse(normalized),
        weightScale(metadata, prefix));
  }

  /** Returns the factor of expert weights; files use 0 for none. */
  private static float weightScale(GgufMetadata metadata, String prefix) {
    float scale = metadata.number(prefix + "expert_weights_scale").orElse(0.0).floatValue();
    return scale == 0 ? 1 : scale;
  }

  /**
   * Returns the width of an expert if the file does not state it. Older files state the width of a
   * token's experts together; Mixtral's state that of each.
   */
  private static int defaultExpertWidth(ModelConfig plain, int used) {
    return plain.architecture() == Architecture.LLAMA
        ? plain.feedForward()
        : plain.feedForward() / Math.max(1, used);
  }

  /** Reads the configuration of DeepSeek, of any generation, and of models built like it. */
  private static ExpertConfig deepSeek(GgufMetadata metadata, ModelConfig plain) {
    String prefix = plain.architecture().identifier() + ".";
    int width = metadata.requireInteger(prefix + "expert_feed_forward_length");
    int groups = metadata.integer(prefix + "expert_group_count").orElse(1);
    int groupsUsed = metadata.integer(prefix + "expert_group_used_count").orElse(groups);
    int stated = metadata.integer(prefix + "expert_gating_func").orElse(0); // 0 if not stated
    boolean isGlm = plain.architecture() == Architecture.GLM4_MOE || isGlmFlash(plain);
    int fallback = isGlm ? SIGMOID : SOFTMAX;
    int gate = stated == 0 ? fallback : stated;
    double scale = metadata.number(prefix + "expert_weights_scale").orElse(1.0);
    return deepSeek(
        metadata.requireInteger(prefix + "expert_count"),
        metadata.requireInteger(prefix + "expert_used_count"),
        width,
        metadata.integer(prefix + "expert_shared_count").orElse(0),
        metadata.integer(prefix + "leading_dense_block_count").orElse(0),
        new Routing(
            gate == SIGMOID ? Score.SIGMOID : Score.SOFTMAX,
            groups > 1 ? new Groups(groups, groupsUsed, 2) : Groups.NONE,
            metadata.bool(prefix + "expert_weights_norm").orElse(false),
            scale == 0 ? 1 : (float) scale)); // older files use 0 for none
  }

  /**
   * Returns whether this is GLM 4.7 Flash, whose files do not state the gating function. llama.cpp
   * uses the same test.
   */
  private static boolean isGlmFlash(ModelConfig plain) {
    return (plain.layers() == 47 || plain.layers() == 48) && plain.vocabulary() == 154_880;
  }

  /**
   * Reads the same from a folder. The second generation scores a group of experts by its best
   * expert only.
   */
  static ExpertConfig deepSeek(JsonFile json) {
    requireOnly(json, "moe_layer_freq", 1);
    boolean second = json.string("model_type").filter("deepseek_v2"::equals).isPresent();
    String method = json.string("topk_method").orElse(second ? "greedy" : "noaux_tc");
    int groups = method.equals("greedy") ? 1 : json.integer("n_group").orElse(1);
    int scoresPerGroup = method.equals("group_limited_greedy") ? 1 : 2;
    boolean sigmoid =
        json.string("scoring_func").map("sigmoid"::equals).orElse(method.equals("noaux_tc"));
    return deepSeek(
        json.requireInteger("n_routed_experts"),
        json.requireInteger("num_experts_per_tok"),
        json.requireInteger("moe_intermediate_size"),
        json.integer("n_shared_experts").orElse(0),
        leadingDense(json),
        new Routing(
            sigmoid ? Score.SIGMOID : Score.SOFTMAX,
            groups > 1
                ? new Groups(groups, json.integer("topk_group").orElse(groups), scoresPerGroup)
                : Groups.NONE,
            json.bool("norm_topk_prob").orElse(!second),
            json.number("routed_scaling_factor").orElse(1.0).floatValue()));
  }

  /** Returns the number of layers before those with experts; GLM 4.7 Flash has a list of words. */
  private static int leadingDense(JsonFile json) {
    String key = "mlp_layer_types";
    JsonArray types = json.array(key).orElse(new JsonArray());
    if (types.isEmpty()) {
      return json.integer("first_k_dense_replace").orElse(0);
    }
    List<String> words = types.asList().stream().map(JsonElement::toString).toList();
    int dense = words.indexOf("\"sparse\"") < 0 ? words.size() : words.indexOf("\"sparse\"");
    if (words.lastIndexOf("\"dense\"") >= dense) {
      throw new InvalidInputException(
          "%s: '%s' has a dense layer behind sparse ones; expected dense layers first"
              .formatted(json.name(), key));
    }
    return dense;
  }

  private static ExpertConfig deepSeek(
      int count, int used, int width, int shared, int leadingDense, Routing routing) {
    int sharedWidth = Math.clamp((long) shared * width, -1, Integer.MAX_VALUE);
    return new ExpertConfig(
        count, used, width, sharedWidth, false, leadingDense, routing, Activation.SILU);
  }

  /** Reads it from a Hugging Face folder. */
  static ModelConfig of(JsonFile json, ModelConfig plain) {
    if (plain.architecture() == Architecture.GLM4_MOE) {
      return plain.withExperts(deepSeek(json));
    }
    if (plain.architecture() == Architecture.DEEPSEEK2) {
      return json.integer("n_routed_experts").orElse(0) == 0
          ? plain
          : plain.withExperts(deepSeek(json));
    }
    if (!hasExperts(json, plain.architecture())) {
      return plain;
    }
    int used =
        plain.architecture() == Architecture.GEMMA4
            ? json.requireInteger("top_k_experts")
            : json.requireInteger("num_experts_per_tok");
    ExpertConfig experts =
        switch (plain.architecture()) {
          case MIXTRAL ->
              withoutSharedExpert(
                  json.requireInteger("num_local_experts"),
                  used,
                  plain.feedForward(),
                  Routing.softmax(true));
          case QWEN3_MOE ->
              withoutSharedExpert(
                  expertCount(json),
                  used,
                  json.requireInteger("moe_intermediate_size"),
                  Routing.softmax(json.bool("norm_topk_prob").orElse(false)));
          case QWEN2_MOE ->
              withSharedGate(
                  expertCount(json),
                  used,
                  json.requireInteger("moe_intermediate_size"),
                  json.requireInteger("shared_expert_intermediate_size"),
                  Routing.softmax(json.bool("norm_topk_prob").orElse(false)));
          case QWEN3_NEXT, QWEN35_MOE ->
              withSharedGate(
                  expertCount(json),
                  used,
                  json.requireInteger("moe_intermediate_size"),
                  json.requireInteger("shared_expert_intermediate_size"),
                  Routing.softmax(json.bool("norm_topk_prob").orElse(true)));
          case LFM2_MOE ->
              withoutSharedExpert(
                      json.requireInteger("num_experts"),
                      used,
                      json.requireInteger("moe_intermediate_size"),
                      new Routing(
                          Score.SIGMOID,
                          Groups.NONE,
                          json.bool("norm_topk_prob").orElse(true),
                          json.number("routed_scaling_factor").orElse(1.0).floatValue()))
                  .withLeadingDense(json.integer("num_dense_layers").orElse(2));
          case GRANITE_HYBRID ->
              withSharedExpert(
                  json.requireInteger("num_local_experts"),
                  used,
                  json.requireInteger("intermediate_size"),
                  json.requireInteger("shared_intermediate_size"),
                  Routing.softmax(true),
                  Activation.SILU);
          case NEMOTRON_H_MOE -> {
            int groups = json.integer("n_group").orElse(1);
            yield withSharedExpert(
                    json.requireInteger("n_routed_experts"),
                    used,
                    json.requireInteger("moe_intermediate_size"),
                    json.requireInteger("moe_shared_expert_intermediate_size"),
                    new Routing(
                        Score.SIGMOID,
                        groups > 1
                            ? new Groups(groups, json.integer("topk_group").orElse(groups), 2)
                            : Groups.NONE,
                        json.bool("norm_topk_prob").orElse(true),
                        json.number("routed_scaling_factor").orElse(1.0).floatValue()),
                    Activation.SQUARED_RELU)
                .withLatent(json.integer("moe_latent_size").orElse(0));
          }
          case GEMMA4 ->
              new ExpertConfig(
                  json.requireInteger("num_experts"),
                  used,
                  json.requireInteger("moe_intermediate_size"),
                  0,
                  false,
                  0,
                  Routing.softmax(true),
                  Activation.GELU);
          case GPT_OSS -> {
            requireConstant(json, "swiglu_limit", Activation.BOUND);
            requireConstant(json, "swiglu_alpha", Activation.STEEPNESS);
            yield gptOss(json.requireInteger("num_local_experts"), used, plain.feedForward());
          }
          default -> throw unsupportedMixture(json.name(), plain);
        };
    return plain.withExperts(experts);
  }

  private static boolean hasExperts(JsonFile json, Architecture architecture) {
    return switch (architecture) {
      case GRANITE_HYBRID -> json.integer("num_local_experts").orElse(0) > 0;
      case GEMMA4 -> json.bool("enable_moe_block").orElse(false);
      default -> architecture.hasExperts();
    };
  }

  /** Returns the number of experts of a Qwen model; fails if some layers have none. */
  private static int expertCount(JsonFile json) {
    requireOnly(json, "decoder_sparse_step", 1);
    if (json.array("mlp_only_layers").map(layers -> !layers.isEmpty()).orElse(false)) {
      throw new InvalidInputException(
          "%s: 'mlp_only_layers' names layers without experts; only mixtures in all layers are supported"
              .formatted(json.name()));
    }
    // Newer files of Qwen 3 have the other name.
    return json.integer("num_experts")
        .orElseGet(
            () ->
                json.integer("num_local_experts")
                    .orElseThrow(() -> json.missing("num_experts", "a whole number")));
  }

  private static void requireOnly(JsonFile json, String key, int expected) {
    int found = json.integer(key).orElse(expected);
    if (found != expected) {
      throw new InvalidInputException(
          "%s: '%s' is %d; only %d is supported".formatted(json.name(), key, found, expected));
    }
  }

  private static void requireConstant(JsonFile json, String key, float expected) {
    float found = json.number(key).map(Double::floatValue).orElse(expected);
    if (found != expected) {
      throw new InvalidInputException(
          "%s: '%s' is %s; only %s is supported".formatted(json.name(), key, found, expected));
    }
  }

  private static ExpertConfig gptOss(int count, int used, int width) {
    return new ExpertConfig(
        count, used, width, 0, false, 0, Routing.softmaxAfterTopK(), Activation.BOUNDED_SILU);
  }

  private static ExpertConfig withoutSharedExpert(int count, int used, int width, Routing routing) {
    return new ExpertConfig(count, used, width, 0, false, 0, routing, Activation.SILU);
  }

  private static ExpertConfig withSharedExpert(
      int count, int used, int width, int shared, Routing routing, Activation activation) {
    return new ExpertConfig(count, used, width, shared, false, 0, routing, activation);
  }

  private static ExpertConfig withSharedGate(
      int count, int used, int width, int shared, Routing routing) {
    return new ExpertConfig(count, used, width, shared, true, 0, routing, Activation.SILU);
  }

  private static InvalidInputException unsupportedMixture(String fileName, ModelConfig plain) {
    return new InvalidInputException(
        "%s: is a mixture of experts; of %s models only dense ones are supported"
            .formatted(fileName, plain.architecture().identifier()));
  }
}
