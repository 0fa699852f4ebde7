package dev.kvasir.family;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.kvasir.format.GgufValue;
import java.util.Arrays;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** Norms before and after, local and global layers, and scaled embeddings. */
final class GemmaFamilies {
  private static final int WINDOW = 16;

  private GemmaFamilies() {}

  /** Every other layer is local; scores and logits have soft caps within their usual range. */
  static FamilyModel gemma2(String name) {
    FamilyModel model = new FamilyModel(name, "gemma2", "gemma2", FamilySizes.WIDE);
    common(model, 2);
    model.ropeBase(10_000);
    cap(model, "attn_logit_softcapping", 2);
    cap(model, "final_logit_softcapping", 4);
    for (int layer = 0; layer < model.sizes().layers(); layer++) {
      layer(new LayerTensors(model, layer));
    }
    model.tiedEnds(0.06, 4);
    return model;
  }

  /**
   * Wider heads with partial rotation in every third layer, embeddings of tokens in all layers, and
   * two last layers that read the keys and values of earlier ones.
   */
  static FamilyModel gemma4(String name) {
    Gemma4 sizes = new Gemma4(8, 2, 2, 16);
    FamilyModel model = new FamilyModel(name, "gemma4", "gemma4_text", sizes.common());
    sizes.describe(model);
    sizes.describeInputs(model);
    model.json("attention_k_eq_v", false);
    for (int layer = 0; layer < sizes.layers; layer++) {
      LayerTensors parts = new LayerTensors(model, layer);
      sizes.layer(model, layer, parts, true);
      sizes.inputs(model, layer, parts);
    }
    model.tiedEnds(0.06, 3);
    return model;
  }

  /** Experts next to a dense part; wider heads are fewer, and their values are their keys. */
  static FamilyModel gemma4Moe(String name) {
    Gemma4 sizes = new Gemma4(6, 0, 1, 0);
    FamilyModel model = new FamilyModel(name, "gemma4", "gemma4_text", sizes.common());
    sizes.describe(model);
    model.json("attention_k_eq_v", true);
    int experts = 6;
    int width = 24;
    size(model, "expert_count", "num_experts", experts);
    size(model, "expert_used_count", "top_k_experts", 4);
    size(model, "expert_feed_forward_length", "moe_intermediate_size", width);
    model.json("enable_moe_block", true);
    for (int layer = 0; layer < sizes.layers; layer++) {
      LayerTensors parts = new LayerTensors(model, layer);
      sizes.layer(model, layer, parts, sizes.isLocal(layer));
      sizes.experts(model, layer, parts, experts, width);
    }
    model.tiedEnds(0.06, 3);
    return model;
  }

  private static void size(FamilyModel model, String key, String property, int value) {
    model.putMetadata(key, value);
    model.json(property, value);
  }

  /**
   * Sizes of Gemma 4.
   *
   * @param shared last layers without keys and values
   * @param globalHeads KV heads of layers without a window
   * @param channels of the embedding of a token in a layer; 0 for none
   */
  private record Gemma4(int layers, int shared, int globalHeads, int channels) {
    static final int LOCAL_DIM = 16;
    static final int GLOBAL_DIM = 32;
    static final int LOCAL_HEADS = 2;
    static final int PERIOD = 3;

    FamilySizes common() {
      return FamilySizes.SQUARE.withLayers(layers).withHeads(4, LOCAL_HEADS, LOCAL_DIM);
    }

    /** Returns whether a layer has a window; the last one has none. */
    boolean isLocal(int layer) {
      return layer % PERIOD != PERIOD - 1 && layer != layers - 1;
    }

    boolean sharesCache(int layer) {
      return layer >= layers - shared;
    }

    int kvHeads(int layer) {
      return isLocal(layer) ? LOCAL_HEADS : globalHeads;
    }

    int width(int layer) {
      return sharesCache(layer) ? 2 * common().feedForward() : common().feedForward();
    }

    void describe(FamilyModel model) {
      model.headDim(GLOBAL_DIM); // in GGUF; a folder has that of layers with a window
      model.json("head_dim", LOCAL_DIM);
      model.json("global_head_dim", GLOBAL_DIM);
      model.putMetadata("attention.key_length_swa", LOCAL_DIM);
      model.putMetadata("attention.value_length_swa", LOCAL_DIM);
      model.putMetadata("rope.dimension_count", GLOBAL_DIM);
      model.putMetadata("rope.dimension_count_swa", LOCAL_DIM);
      model.putMetadata("attention.head_count_kv", each(layer -> GgufValue.int32(kvHeads(layer))));
      model.json("num_global_key_value_heads", globalHeads);
      model.putMetadata("feed_forward_length", each(layer -> GgufValue.int32(width(layer))));
      model.json("use_double_wide_mlp", shared > 0);
      size(model, "attention.shared_kv_layers", "num_kv_shared_layers", shared);
      size(model, "embedding_length_per_layer_input", "hidden_size_per_layer_input", channels);
      model.json("vocab_size_per_layer_input", FamilyModel.VOCABULARY);
      size(model, "attention.sliding_window", "sliding_window", WINDOW);
      boolean[] local = new boolean[layers];
      JsonArray types = new JsonArray();
      for (int layer = 0; layer < layers; layer++) {
        local[layer] = isLocal(layer);
        types.add(isLocal(layer) ? "sliding_attention" : "full_attention");
      }
      model.putMetadata("attention.sliding_window_pattern", DenseFamilies.bools(local));
      model.json().add("layer_types", types);
      model.json("hidden_activation", "gelu_pytorch_tanh");
      cap(model, "final_logit_softcapping", 6);
      model.ropeBase(1000);
      model.putMetadata("rope.freq_base_swa", 300f);
      int rotary = GLOBAL_DIM / 4; // pairs, half of all
      float[] factors = new float[GLOBAL_DIM / 2];
      Arrays.fill(factors, 1);
      Arrays.fill(factors, rotary, factors.length, 1e30f);
      model.gguf("rope_freqs.weight", new TensorValues(factors, factors.length));
      JsonObject ropes = new JsonObject();
      ropes.add("full_attention", rope("proportional", 1000));
      ropes.getAsJsonObject("full_attention").addProperty("partial_rotary_factor", 0.5);
      ropes.add("sliding_attention", rope("default", 300));
      model.json().add("rope_parameters", ropes);
    }

    private static JsonObject rope(String type, int base) {
      JsonObject rope = new JsonObject();
      rope.addProperty("rope_type", type);
      rope.addProperty("rope_theta", base);
      return rope;
    }

    private GgufValue each(IntFunction<GgufValue> ofLayer) {
      return FamilyModel.array(
          IntStream.range(0, layers).mapToObj(ofLayer).toArray(GgufValue[]::new));
    }

    void describeInputs(FamilyModel model) {
      int hidden = common().hidden();
      int all = layers * channels;
      TensorValues embedding =
          model.random("per_layer_token_embd", 0, 0.4, FamilyModel.VOCABULARY, all);
      model.gguf("per_layer_token_embd.weight", embedding);
      model.folder("model.embed_tokens_per_layer.weight", embedding);
      model.matrix("per_layer_model_proj", "model.per_layer_model_projection", 8, all, hidden);
      model.norm("per_layer_proj_norm", "model.per_layer_projection_norm", channels);
    }

    void layer(FamilyModel model, int layer, LayerTensors parts, boolean hasValues) {
      int hidden = common().hidden();
      int dim = isLocal(layer) ? LOCAL_DIM : GLOBAL_DIM;
      int queries = common().queryHeads() * dim;
      int keys = kvHeads(layer) * dim;
      parts.norm("attn_norm", "input_layernorm");
      parts.matrix("attn_q", "self_attn.q_proj", 1.4, queries, hidden);
      // Scores are not divided by a root, so the norms of queries do it.
      norm(model, layer, "attn_q_norm", "self_attn.q_norm", 0.6 / Math.sqrt(dim), dim);
      if (!sharesCache(layer)) {
        parts.matrix("attn_k", "self_attn.k_proj", 1.4, keys, hidden);
        norm(model, layer, "attn_k_norm", "self_attn.k_norm", 2, dim);
        if (hasValues) {
          parts.matrix("attn_v", "self_attn.v_proj", 1.3, keys, hidden);
        }
      }
      parts.matrix("attn_output", "self_attn.o_proj", 1.3, hidden, queries);
      parts.norm("post_attention_norm", "post_attention_layernorm");
      parts.norm("ffn_norm", "pre_feedforward_layernorm");
      parts.gated("", "mlp.", width(layer));
      parts.norm("post_ffw_norm", "post_feedforward_layernorm");
      TensorValues scale =
          model.random(FamilyModel.gguf(layer) + "layer_output_scale", 0.9, 0.1, 1);
      model.gguf(FamilyModel.gguf(layer) + "layer_output_scale.weight", scale);
      model.folder(FamilyModel.huggingFace(layer) + "layer_scalar", scale);
    }

    private static void norm(
        FamilyModel model, int layer, String gguf, String folder, double middle, int length) {
      TensorValues values =
          model.random(FamilyModel.gguf(layer) + gguf, middle, 0.3 * middle, length);
      model.gguf(FamilyModel.gguf(layer) + gguf + ".weight", values);
      model.folder(FamilyModel.huggingFace(layer) + folder + ".weight", values);
    }

    void inputs(FamilyModel model, int layer, LayerTensors parts) {
      int hidden = common().hidden();
      parts.matrix("inp_gate", "per_layer_input_gate", 1.3, channels, hidden);
      parts.matrix("proj", "per_layer_projection", 1.3, hidden, channels);
      parts.norm("post_norm", "post_per_layer_input_norm");
    }

    void experts(FamilyModel model, int layer, LayerTensors parts, int count, int width) {
      int hidden = common().hidden();
      String gguf = FamilyModel.gguf(layer);
      String folder = FamilyModel.huggingFace(layer);
      // The input of the router is small: its norm is divided by the root of the hidden size.
      parts.matrix("ffn_gate_inp", "router.proj", 2 * Math.sqrt(hidden), count, hidden);
      TensorValues scale = model.random(gguf + "ffn_gate_inp.scale", 1, 0.3, hidden);
      model.gguf(gguf + "ffn_gate_inp.scale", scale);
      model.folder(folder + "router.scale", scale);
      parts.norm("pre_ffw_norm_2", "pre_feedforward_layernorm_2");
      parts.norm("post_ffw_norm_1", "post_feedforward_layernorm_1");
      parts.norm("post_ffw_norm_2", "post_feedforward_layernorm_2");
      TensorValues inputs =
          model.randomMatrix(gguf + "ffn_gate_up_exps", 1.5, count, 2 * width, hidden);
      TensorValues down = model.randomMatrix(gguf + "ffn_down_exps", 1.5, count, hidden, width);
      model.gguf(gguf + "ffn_gate_up_exps.weight", inputs);
      model.gguf(gguf + "ffn_down_exps.weight", down);
      model.folder(folder + "experts.gate_up_proj", inputs);
      model.folder(folder + "experts.down_proj", down);
      TensorValues factors = model.random(gguf + "ffn_down_exps.scale", 1, 0.3, count);
      model.gguf(gguf + "ffn_down_exps.scale", factors);
      model.folder(folder + "router.per_expert_scale", factors);
    }
  }

  private static void cap(FamilyModel model, String key, float cap) {
    model.putMetadata(key, cap);
    model.json(key, cap);
  }

  /** Five local layers, a global one with RoPE scaling, and one local layer. */
  static FamilyModel gemma3(String name) {
    FamilyModel model = gemma3(name, FamilySizes.WIDE.withLayers(7));
    model.ropeBase(100_000);
    model.json("rope_local_base_freq", 10_000);
    model.putMetadata("rope.scaling.type", "linear");
    model.putMetadata("rope.scaling.factor", 4f);
    JsonObject scaling = new JsonObject();
    scaling.addProperty("rope_type", "linear");
    scaling.addProperty("factor", 4);
    model.json().add("rope_scaling", scaling);
    return model;
  }

  /** One KV head of 256 channels for four query heads, like the smallest model of the family. */
  static FamilyModel gemma3Wide(String name) {
    FamilyModel model = gemma3(name, FamilySizes.WIDE.withLayers(6).withHeads(4, 1, 256));
    model.ropeBase(5000);
    model.putMetadata("rope.freq_base_swa", 500f);
    model.json("rope_local_base_freq", 500);
    return model;
  }

  private static FamilyModel gemma3(String name, FamilySizes sizes) {
    FamilyModel model = new FamilyModel(name, "gemma3", "gemma3_text", sizes);
    common(model, 6);
    for (int layer = 0; layer < sizes.layers(); layer++) {
      LayerTensors parts = new LayerTensors(model, layer);
      layer(parts);
      parts.queryNorms(sizes.headDim(), sizes.headDim());
    }
    model.tiedEnds(0.06, 4);
    return model;
  }

  private static void common(FamilyModel model, int period) {
    model.storeNormsWithout(1);
    model.headDim(model.sizes().headDim());
    model.putMetadata("attention.sliding_window", WINDOW);
    model.json("sliding_window", WINDOW);
    JsonArray types = new JsonArray();
    for (int layer = 0; layer < model.sizes().layers(); layer++) {
      types.add(layer % period == period - 1 ? "full_attention" : "sliding_attention");
    }
    model.json().add("layer_types", types);
    model.json("query_pre_attn_scalar", model.sizes().headDim());
    model.json("hidden_activation", "gelu_pytorch_tanh");
  }

  private static void layer(LayerTensors parts) {
    parts.norm("attn_norm", "input_layernorm");
    parts.attention();
    parts.norm("post_attention_norm", "post_attention_layernorm");
    parts.norm("ffn_norm", "pre_feedforward_layernorm");
    parts.feedForward();
    parts.norm("post_ffw_norm", "post_feedforward_layernorm");
  }
}
