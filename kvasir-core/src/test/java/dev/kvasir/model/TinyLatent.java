package dev.kvasir.model;

import dev.kvasir.format.GgmlType;
import dev.kvasir.model.TinyModel.Sizes;
import java.util.Random;
import kvasir.tools.UnsharedRandom;

/** Small random decoders with latent attention, in the layout of each file format. */
final class TinyLatent {
  /** A small DeepSeek-V2-Lite. */
  static final LatentConfig SMALL = new LatentConfig(24, 8, 12, 10, 0, TinyModel.EPSILON);

  /** Sizes that are whole quantization blocks. */
  static final LatentConfig CODED = new LatentConfig(256, 32, 64, 32, 0, TinyModel.EPSILON);

  private TinyLatent() {}

  /** Returns the smallest sizes that tests need. */
  static Sizes sizes(int queryHeads) {
    return Sizes.of("deepseek2").withHeads(queryHeads, 1, 8);
  }

  /**
   * Creates a model with one tensor for all heads' keys and values, as in training and older files.
   */
  static TinyModel trained(Sizes sizes, LatentConfig latent, long seed) {
    return of(sizes, latent, true, seed);
  }

  /** Creates a model with a matrix per head to the latent and one back. */
  static TinyModel split(Sizes sizes, LatentConfig latent, long seed) {
    return of(sizes, latent, false, seed);
  }

  private static TinyModel of(Sizes sizes, LatentConfig latent, boolean together, long seed) {
    TinyModel model = new TinyModel(sizes, seed);
    model.latent = latent;
    Random random = new UnsharedRandom(seed + 1);
    for (int layer = 0; layer < sizes.layers(); layer++) {
      String at = "model.layers.%d.self_attn.".formatted(layer);
      model.tensors.keySet().removeIf(name -> name.startsWith(at));
      addQueries(model, at, random);
      put(model, at + "kv_a_proj_with_mqa.weight", latent.keyDim(), sizes.hidden(), random);
      model.tensors.put(at + "kv_a_layernorm.weight", TinyTensor.vector(latent.rank(), 1, random));
      addUps(model, at, together, random);
      int outputs = sizes.queryHeads() * latent.output();
      put(model, at + "o_proj.weight", sizes.hidden(), outputs, random);
    }
    describeAsGguf(model, together);
    describeAsJson(model);
    return model;
  }

  private static void addQueries(TinyModel model, String at, Random random) {
    LatentConfig latent = model.latent;
    int hidden = model.sizes.hidden();
    int queries = model.sizes.queryHeads() * latent.headDim();
    if (latent.queryRank() == 0) {
      put(model, at + "q_proj.weight", queries, hidden, random);
      return;
    }
    put(model, at + "q_a_proj.weight", latent.queryRank(), hidden, random);
    model.tensors.put(
        at + "q_a_layernorm.weight", TinyTensor.vector(latent.queryRank(), 1, random));
    put(model, at + "q_b_proj.weight", queries, latent.queryRank(), random);
  }

  private static void addUps(TinyModel model, String at, boolean together, Random random) {
    LatentConfig latent = model.latent;
    int heads = model.sizes.queryHeads();
    if (together) {
      int rows = heads * (latent.nonRotary() + latent.output());
      put(model, at + "kv_b_proj.weight", rows, latent.rank(), random);
      return;
    }
    GgmlType type = model.sizes.type();
    TinyTensor keys = TinyTensor.matrix(type, heads * latent.rank(), latent.nonRotary(), random);
    TinyTensor values = TinyTensor.matrix(type, heads * latent.output(), latent.rank(), random);
    model.tensors.put(at + "k_b_proj.weight", keys.as(heads, latent.rank(), latent.nonRotary()));
    model.tensors.put(at + "v_b_proj.weight", values.as(heads, latent.output(), latent.rank()));
  }

  private static void put(TinyModel model, String name, int rows, int columns, Random random) {
    model.tensors.put(name, TinyTensor.matrix(model.sizes.type(), rows, columns, random));
  }

  private static void describeAsGguf(TinyModel model, boolean together) {
    LatentConfig latent = model.latent;
    model.say("attention.kv_lora_rank", latent.rank());
    model.say("attention.q_lora_rank", latent.queryRank());
    model.say("rope.dimension_count", latent.rotary());
    if (together) {
      model.say("attention.head_count_kv", model.sizes.queryHeads());
      model.say("attention.key_length", latent.headDim());
      model.say("attention.value_length", latent.output());
    } else {
      model.say("attention.key_length", latent.keyDim());
      model.say("attention.value_length", latent.rank());
      model.say("attention.key_length_mla", latent.headDim());
      model.say("attention.value_length_mla", latent.output());
    }
  }

  private static void describeAsJson(TinyModel model) {
    LatentConfig latent = model.latent;
    model.json.addProperty("model_type", "deepseek_v2");
    model.json.addProperty("num_key_value_heads", model.sizes.queryHeads());
    model.json.remove("head_dim");
    model.json.addProperty("kv_lora_rank", latent.rank());
    model.json.addProperty("qk_nope_head_dim", latent.nonRotary());
    model.json.addProperty("qk_rope_head_dim", latent.rotary());
    model.json.addProperty("v_head_dim", latent.output());
    if (latent.queryRank() > 0) {
      model.json.addProperty("q_lora_rank", latent.queryRank());
    }
  }
}
