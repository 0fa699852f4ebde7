package dev.kvasir.model;

import dev.kvasir.format.GgufValue;
import java.util.Random;

/**
 * Turns a small random decoder into a Gemma: post-norms, local layers with other RoPE settings, and
 * caps. Tensors have GGUF names.
 */
final class TinyGemma {
  static final int WINDOW = 24;

  private TinyGemma() {}

  /** Adds the tensors; the first of two layers is local. */
  static void complete(TinyModel model, Random random) {
    TinyModel.Sizes sizes = model.sizes;
    for (int layer = 0; layer < sizes.layers(); layer++) {
      String at = "blk.%d.".formatted(layer);
      add(model, at + "post_attention_norm.weight", sizes.hidden(), random);
      add(model, at + "post_ffw_norm.weight", sizes.hidden(), random);
      if (sizes.architecture().equals("gemma3")) {
        add(model, at + "attn_q_norm.weight", sizes.keyDim(), random);
        add(model, at + "attn_k_norm.weight", sizes.keyDim(), random);
      }
    }
    model.say("attention.sliding_window", WINDOW);
    model.say("attention.sliding_window_pattern", 2);
    model.say("rope.freq_base_swa", GgufValue.float32(50));
    model.say("attn_logit_softcapping", GgufValue.float32(2));
    model.say("final_logit_softcapping", GgufValue.float32(3));
  }

  private static void add(TinyModel model, String name, int length, Random random) {
    model.tensors.put(name, TinyTensor.vector(length, 1, random));
  }
}
