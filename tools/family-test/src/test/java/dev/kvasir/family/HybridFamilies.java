package dev.kvasir.family;

import com.google.gson.JsonArray;
import dev.kvasir.format.GgufValue;
import java.util.List;
import java.util.stream.IntStream;

/** Families with recurrent layers between those with attention. */
final class HybridFamilies {
  /** All of them, to test what has nothing to do with llama.cpp. */
  static final List<Family> ALL =
      List.of(Family.LFM2, Family.QWEN35, Family.QWEN35_MOE, Family.QWEN3_NEXT);

  private HybridFamilies() {}

  /** Short convolutions in all but every third layer. */
  static FamilyModel lfm2(String name) {
    FamilySizes sizes = FamilySizes.SQUARE.withLayers(6);
    FamilyModel model = new FamilyModel(name, "lfm2", "lfm2", sizes);
    model.ropeBase(DenseFamilies.ROPE_BASE);
    model.json("norm_eps", 1e-3f);
    model.json("block_auto_adjust_ff_dim", false);
    int taps = 3;
    model.putMetadata("shortconv.l_cache", taps);
    model.json("conv_L_cache", taps);
    model.json("conv_bias", false);
    attentionEveryThird(model, "conv");
    for (int layer = 0; layer < sizes.layers(); layer++) {
      LayerTensors parts = new LayerTensors(model, layer);
      parts.norm("attn_norm", "operator_norm");
      parts.norm("ffn_norm", "ffn_norm");
      if (layer % 3 == 2) {
        parts.matrix("attn_q", "self_attn.q_proj", 1.4, sizes.queries(), sizes.hidden());
        parts.matrix("attn_k", "self_attn.k_proj", 1.4, sizes.keys(), sizes.hidden());
        parts.matrix("attn_v", "self_attn.v_proj", 1.3, sizes.keys(), sizes.hidden());
        parts.matrix("attn_output", "self_attn.out_proj", 1.3, sizes.hidden(), sizes.queries());
        parts.norm("attn_q_norm", "self_attn.q_layernorm", sizes.headDim());
        parts.norm("attn_k_norm", "self_attn.k_layernorm", sizes.headDim());
      } else {
        parts.matrix("shortconv.in_proj", "conv.in_proj", 1.2, 3 * sizes.hidden(), sizes.hidden());
        kernel(model, layer, "shortconv.conv", "conv.conv", sizes.hidden(), taps);
        parts.matrix("shortconv.out_proj", "conv.out_proj", 1.2, sizes.hidden(), sizes.hidden());
      }
      parts.matrix("ffn_gate", "feed_forward.w1", 1.3, sizes.feedForward(), sizes.hidden());
      parts.matrix("ffn_up", "feed_forward.w3", 1.3, sizes.feedForward(), sizes.hidden());
      parts.matrix("ffn_down", "feed_forward.w2", 1.3, sizes.hidden(), sizes.feedForward());
    }
    TensorValues embedding =
        model.random("token_embd", 0, 0.2, FamilyModel.VOCABULARY, sizes.hidden());
    model.gguf("token_embd.weight", embedding);
    model.folder("model.embed_tokens.weight", embedding);
    model.norm("token_embd_norm", "model.embedding_norm", sizes.hidden());
    model.json("tie_word_embeddings", true);
    return model;
  }

  /** Says which layers attend: in GGUF by their KV heads, in a folder by their types. */
  private static void attentionEveryThird(FamilyModel model, String recurrent) {
    FamilySizes sizes = model.sizes();
    JsonArray types = new JsonArray();
    IntStream.range(0, sizes.layers())
        .forEach(layer -> types.add(layer % 3 == 2 ? "full_attention" : recurrent));
    model.json().add("layer_types", types);
    GgufValue[] heads =
        IntStream.range(0, sizes.layers())
            .mapToObj(layer -> GgufValue.int32(layer % 3 == 2 ? sizes.kvHeads() : 0))
            .toArray(GgufValue[]::new);
    model.putMetadata("attention.head_count_kv", FamilyModel.array(heads));
  }

  /** Adds the kernel of a convolution; folders have a dimension of one between the two. */
  private static void kernel(
      FamilyModel model, int layer, String gguf, String huggingFace, int channels, int taps) {
    String name = FamilyModel.gguf(layer) + gguf;
    TensorValues values = model.random(name, 0, 0.6, channels, taps);
    model.gguf(name + ".weight", values);
    model.folder(
        FamilyModel.huggingFace(layer) + huggingFace + ".weight",
        values.reshaped(channels, 1, taps));
  }
}
