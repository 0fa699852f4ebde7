package dev.kvasir.model;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.format.JsonFile;

/**
 * Values that {@code config.json} files omit because they are defaults of classes in transformers,
 * by family. Sizes that every file states are not listed, nor defaults of Kvasir.
 */
final class HuggingFaceDefaults {
  private HuggingFaceDefaults() {}

  /** Returns the defaults for a decoder's configuration. */
  static JsonObject of(Architecture architecture, JsonFile json) {
    String type = json.string("model_type").orElse("");
    return JsonParser.parseString(text(architecture, type)).getAsJsonObject();
  }

  private static String text(Architecture architecture, String type) {
    return switch (architecture) {
      case MISTRAL ->
          """
          {"num_key_value_heads": 8, "sliding_window": 4096}
          """;
      case MISTRAL3 ->
          type.equals("mistral")
              ? text(Architecture.MISTRAL, type)
              : """
              {"num_key_value_heads": 8, "rms_norm_eps": 1e-5}
              """;
      case MIXTRAL ->
          """
          {"num_key_value_heads": 8, "num_local_experts": 8, "num_experts_per_tok": 2,
           "rope_theta": 1e6, "rms_norm_eps": 1e-5}
          """;
      case GEMMA2 ->
          """
          {"head_dim": 256, "query_pre_attn_scalar": 256, "max_position_embeddings": 8192,
           "sliding_window": 4096, "attn_logit_softcapping": 50, "final_logit_softcapping": 30,
           "tie_word_embeddings": true}
          """;
      // Multimodal files of Gemma 3 state little more than their widths.
      case GEMMA3 ->
          """
          {"vocab_size": 262208, "num_attention_heads": 8, "num_key_value_heads": 4,
           "head_dim": 256, "query_pre_attn_scalar": 256, "max_position_embeddings": 131072,
           "sliding_window": 4096, "rope_theta": 1e6, "rope_local_base_freq": 10000,
           "tie_word_embeddings": true}
          """;
      case GEMMA4 ->
          """
          {"vocab_size": 262144, "head_dim": 256, "max_position_embeddings": 131072,
           "sliding_window": 512, "tie_word_embeddings": true,
           "rope_parameters": {
             "full_attention": {
               "rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1e6},
             "sliding_attention": {"rope_theta": 10000}}}
          """;
      case PHI3 ->
          """
          {"rms_norm_eps": 1e-5}
          """;
      case OLMO2 ->
          type.equals("olmo3")
              ? """
              {"rope_theta": 5e5, "sliding_window": 4096, "rms_norm_eps": 1e-5}
              """
              : """
              {"rms_norm_eps": 1e-5}
              """;
      case SMOLLM3 ->
          """
          {"num_key_value_heads": 4, "rope_theta": 2e6, "tie_word_embeddings": true}
          """;
      case GPT_OSS ->
          """
          {"num_key_value_heads": 8, "head_dim": 64, "sliding_window": 128,
           "num_experts_per_tok": 4, "rope_theta": 150000, "rms_norm_eps": 1e-5}
          """;
      case DEEPSEEK2 ->
          switch (type) {
            case "deepseek_v2" ->
                """
                {"n_shared_experts": 2}
                """;
            case "glm4_moe_lite" ->
                """
                {"n_shared_experts": 1, "first_k_dense_replace": 1, "routed_scaling_factor": 1.8,
                 "rms_norm_eps": 1e-5}
                """;
            default ->
                """
                {"n_shared_experts": 1, "n_group": 8, "topk_group": 4, "first_k_dense_replace": 3,
                 "routed_scaling_factor": 2.5}
                """;
          };
      case ERNIE4_5 ->
          """
          {"num_key_value_heads": 2, "head_dim": 128, "rope_theta": 5e5, "rms_norm_eps": 1e-5,
           "tie_word_embeddings": true}
          """;
      case GLM4_MOE ->
          """
          {"num_key_value_heads": 8, "n_shared_experts": 1, "topk_group": 1,
           "first_k_dense_replace": 1, "rms_norm_eps": 1e-5}
          """;
      case QWEN3_NEXT, QWEN35_MOE ->
          """
          {"num_key_value_heads": 2, "head_dim": 256}
          """;
      case QWEN35 ->
          """
          {"num_key_value_heads": 4, "head_dim": 256}
          """;
      case GRANITE_HYBRID ->
          """
          {"num_local_experts": 8, "num_experts_per_tok": 2}
          """;
      case NEMOTRON_H, NEMOTRON_H_MOE ->
          """
          {"num_key_value_heads": 8, "head_dim": 128, "n_routed_experts": 8,
           "num_experts_per_tok": 2, "topk_group": 1, "layer_norm_epsilon": 1e-5}
          """;
      case LFM2, LFM2_MOE ->
          """
          {"rope_theta": 1e6, "tie_word_embeddings": true, "norm_eps": 1e-5}
          """;
      default -> "{}";
    };
  }
}
