package dev.kvasir.family;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

/**
 * Attention sinks, local and global layers, experts with biases and a clamped gate. MXFP4
 * represents the expert weights exactly.
 */
final class GptOss {
  private static final int WINDOW = 16;
  private static final int EXPERTS = 6;
  private static final int WIDTH = 64;

  private GptOss() {}

  /** The storage format of the expert weights. */
  private enum Experts {
    FLOATS,
    MXFP4
  }

  static FamilyModel model(String name) {
    return model(name, Experts.FLOATS);
  }

  /** Returns the same weights in the format of the released files. */
  static FamilyModel withMxfp4(String name) {
    FamilyModel model = model(name, Experts.MXFP4);
    JsonObject method = new JsonObject();
    method.addProperty("quant_method", "mxfp4");
    model.json().add("quantization_config", method);
    return model;
  }

  private static FamilyModel model(String name, Experts stored) {
    FamilyModel model = new FamilyModel(name, "gpt-oss", "gpt_oss", FamilySizes.WIDE);
    FamilySizes sizes = model.sizes();
    model.headDim(sizes.headDim());
    model.ropeBase(DenseFamilies.ROPE_BASE);
    YarnScaling.stretch(model).addProperty("truncate", true);
    model.putMetadata("attention.sliding_window", WINDOW);
    model.json("sliding_window", WINDOW);
    model.putMetadata("feed_forward_length", WIDTH);
    model.json("intermediate_size", WIDTH);
    model.putMetadata("expert_feed_forward_length", WIDTH);
    model.putMetadata("expert_count", EXPERTS);
    model.json("num_local_experts", EXPERTS);
    model.putMetadata("expert_used_count", 2);
    model.json("num_experts_per_tok", 2);
    model.json("attention_bias", true);
    model.json("swiglu_limit", 7);
    JsonArray types = new JsonArray();
    for (int layer = 0; layer < sizes.layers(); layer++) {
      types.add(layer % 2 == 0 ? "sliding_attention" : "full_attention");
      attention(model, layer);
      experts(model, layer, stored);
    }
    model.json().add("layer_types", types);
    model.ends();
    return model;
  }

  private static void attention(FamilyModel model, int layer) {
    FamilySizes sizes = model.sizes();
    LayerTensors parts = new LayerTensors(model, layer);
    parts.norm("attn_norm", "input_layernorm");
    parts.attention();
    parts.attentionBiases();
    parts.bias("attn_output", "self_attn.o_proj", sizes.hidden());
    String sinks = FamilyModel.gguf(layer) + "attn_sinks.weight";
    TensorValues values = model.random(sinks, 2, 1.5, sizes.queryHeads());
    model.gguf(sinks, values);
    model.folder(FamilyModel.huggingFace(layer) + "self_attn.sinks", values);
    parts.norm("post_attention_norm", "post_attention_layernorm");
  }

  private static void experts(FamilyModel model, int layer, Experts stored) {
    int hidden = model.sizes().hidden();
    LayerTensors parts = new LayerTensors(model, layer);
    parts.matrix("ffn_gate_inp", "mlp.router", 2, EXPERTS, hidden);
    parts.bias("ffn_gate_inp", "mlp.router", EXPERTS);
    String gguf = FamilyModel.gguf(layer);
    // Large enough to reach the clamp at 7.
    TensorValues gate = weights(model, stored, gguf + "ffn_gate_exps", -3, WIDTH, hidden);
    TensorValues up = weights(model, stored, gguf + "ffn_up_exps", -3, WIDTH, hidden);
    TensorValues down = weights(model, stored, gguf + "ffn_down_exps", -6, hidden, WIDTH);
    TensorValues gateBias = biases(model, gguf + "ffn_gate_exps", WIDTH);
    TensorValues upBias = biases(model, gguf + "ffn_up_exps", WIDTH);
    TensorValues downBias = biases(model, gguf + "ffn_down_exps", hidden);
    String folder = FamilyModel.huggingFace(layer) + "mlp.experts.";
    toFolder(model, stored, folder + "gate_up_proj", gate.interleaved(up));
    model.folder(folder + "gate_up_proj_bias", gateBias.interleaved(upBias));
    toFolder(model, stored, folder + "down_proj", down);
    model.folder(folder + "down_proj_bias", downBias);
  }

  private static TensorValues weights(
      FamilyModel model, Experts stored, String stem, int exponent, int rows, int columns) {
    TensorValues values = Mxfp4.round(model.random(stem, 0, 1, EXPERTS, rows, columns), exponent);
    switch (stored) {
      case FLOATS -> model.gguf(stem + ".weight", values);
      case MXFP4 -> model.ggufMxfp4(stem + ".weight", values);
    }
    return values;
  }

  /** Adds expert weights to the folder: floats are transposed, codes are not. */
  private static void toFolder(
      FamilyModel model, Experts stored, String name, TensorValues values) {
    switch (stored) {
      case FLOATS -> model.folder(name, FolderTensor.bf16(values.transposed()));
      case MXFP4 -> {
        model.folder(name + "_blocks", Mxfp4.folderBlocks(values));
        model.folder(name + "_scales", Mxfp4.folderScales(values));
      }
    }
  }

  private static TensorValues biases(FamilyModel model, String stem, int length) {
    TensorValues values = model.random(stem + ".bias", 0, 0.3, EXPERTS, length);
    model.gguf(stem + ".bias", values);
    return values;
  }
}
