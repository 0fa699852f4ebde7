package dev.kvasir.model;

import com.google.gson.JsonObject;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.GgufValue;
import dev.kvasir.format.GgufWriter;
import dev.kvasir.format.SafetensorsWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import kvasir.tools.UnsharedRandom;

/**
 * A small random decoder: its sizes, its tensors under Hugging Face names, and its files. Tests may
 * change the metadata, also to invalid values.
 */
final class TinyModel {
  static final float EPSILON = 0.02f; // large enough to reveal a wrong value
  static final double ROPE_BASE = 100; // small enough to rotate every pair
  static final int CONTEXT = 512;
  static final int EXPERTS = 6;
  static final int EXPERTS_USED = 3;

  /** Sizes that a test may choose. */
  record Sizes(
      String architecture,
      int layers,
      int hidden,
      int feedForward,
      int queryHeads,
      int kvHeads,
      int keyDim,
      int valueDim,
      int vocabulary,
      boolean tied,
      GgmlType type) {
    static Sizes of(String architecture) {
      return new Sizes(architecture, 2, 32, 64, 4, 2, 8, 8, 50, false, GgmlType.F32);
    }

    /** Returns sizes with that many hidden and feed-forward channels. */
    Sizes withWidth(int channels) {
      return new Sizes(
          architecture,
          layers,
          channels,
          channels,
          queryHeads,
          kvHeads,
          keyDim,
          valueDim,
          vocabulary,
          tied,
          type);
    }

    Sizes withHeads(int query, int kv, int dim) {
      return withHeads(query, kv, dim, dim);
    }

    Sizes withHeads(int query, int kv, int key, int value) {
      return new Sizes(
          architecture, layers, hidden, feedForward, query, kv, key, value, vocabulary, tied, type);
    }

    Sizes withTied() {
      return new Sizes(
          architecture,
          layers,
          hidden,
          feedForward,
          queryHeads,
          kvHeads,
          keyDim,
          valueDim,
          vocabulary,
          true,
          type);
    }

    /** Returns sizes with matrices of that type; columns are then multiples of 256. */
    Sizes withType(GgmlType other) {
      return new Sizes(architecture, 2, 256, 256, 8, 2, 32, 32, 50, tied, other);
    }
  }

  final Sizes sizes;
  final Map<String, TinyTensor> tensors = new LinkedHashMap<>();
  final Map<String, GgufValue> metadata = new LinkedHashMap<>();
  final JsonObject json = new JsonObject();

  /** Divisors of the RoPE frequencies, a tensor in GGUF files. */
  double[] ropeDivisors;

  /** Sizes of latent attention; null for none. */
  LatentConfig latent;

  /**
   * Whether the shared expert's gate is a row, as converters write it, or a vector, as quantizers
   * do.
   */
  boolean convertedAsRow;

  /** Sliding window. */
  int window = Integer.MAX_VALUE;

  TinyModel(Sizes sizes, long seed) {
    this.sizes = sizes;
    makeTensors(new UnsharedRandom(seed));
    describeAsGguf();
    describeAsJson();
    if (sizes.architecture.startsWith("gemma")) {
      TinyGemma.complete(this, new UnsharedRandom(seed + 1));
    }
  }

  private void makeTensors(Random random) {
    int hidden = sizes.hidden;
    int queries = sizes.queryHeads * sizes.keyDim;
    int keys = sizes.kvHeads * sizes.keyDim;
    int values = sizes.kvHeads * sizes.valueDim;
    matrix("model.embed_tokens", sizes.vocabulary, hidden, random);
    for (int layer = 0; layer < sizes.layers; layer++) {
      String at = "model.layers.%d.".formatted(layer);
      vector(at + "input_layernorm.weight", hidden, 1, random);
      matrix(at + "self_attn.q_proj", queries, hidden, random);
      matrix(at + "self_attn.k_proj", keys, hidden, random);
      matrix(at + "self_attn.v_proj", values, hidden, random);
      if (sizes.architecture.startsWith("qwen2")) {
        vector(at + "self_attn.q_proj.bias", queries, 0, random);
        vector(at + "self_attn.k_proj.bias", keys, 0, random);
        vector(at + "self_attn.v_proj.bias", values, 0, random);
      }
      if (sizes.architecture.startsWith("qwen3")) {
        vector(at + "self_attn.q_norm.weight", sizes.keyDim, 1, random);
        vector(at + "self_attn.k_norm.weight", sizes.keyDim, 1, random);
      }
      matrix(at + "self_attn.o_proj", hidden, sizes.queryHeads * sizes.valueDim, random);
      vector(at + "post_attention_layernorm.weight", hidden, 1, random);
      if (hasExperts()) {
        makeExperts(at + "mlp.", random);
      } else {
        makeGated(at + "mlp.", random);
      }
    }
    vector("model.norm.weight", hidden, 1, random);
    if (!sizes.tied) {
      matrix("lm_head", sizes.vocabulary, hidden, random);
    }
  }

  boolean hasExperts() {
    return sizes.architecture.endsWith("moe");
  }

  private void makeGated(String at, Random random) {
    matrix(at + "gate_proj", sizes.feedForward, sizes.hidden, random);
    matrix(at + "up_proj", sizes.feedForward, sizes.hidden, random);
    matrix(at + "down_proj", sizes.hidden, sizes.feedForward, random);
  }

  /** Routers are never quantized. */
  private void makeExperts(String at, Random random) {
    tensors.put(at + "gate.weight", TinyTensor.matrix(GgmlType.F32, EXPERTS, sizes.hidden, random));
    for (int expert = 0; expert < EXPERTS; expert++) {
      makeGated(at + "experts.%d.".formatted(expert), random);
    }
    if (sizes.architecture.equals("qwen2moe")) {
      makeGated(at + "shared_expert.", random);
      tensors.put(
          at + "shared_expert_gate.weight",
          TinyTensor.matrix(GgmlType.F32, 1, sizes.hidden, random));
    }
  }

  private void matrix(String name, int rows, int columns, Random random) {
    tensors.put(name + ".weight", TinyTensor.matrix(sizes.type, rows, columns, random));
  }

  private void vector(String name, int length, double middle, Random random) {
    tensors.put(name, TinyTensor.vector(length, middle, random));
  }

  private void describeAsGguf() {
    metadata.put("general.architecture", GgufValue.string(sizes.architecture));
    say("block_count", sizes.layers);
    say("embedding_length", sizes.hidden);
    say("feed_forward_length", sizes.feedForward);
    say("attention.head_count", sizes.queryHeads);
    say("attention.head_count_kv", sizes.kvHeads);
    say("attention.key_length", sizes.keyDim);
    say("attention.value_length", sizes.valueDim);
    say("context_length", CONTEXT);
    say("attention.layer_norm_rms_epsilon", GgufValue.float32(EPSILON));
    say("rope.freq_base", GgufValue.float32((float) ROPE_BASE));
    if (hasExperts()) {
      say("expert_count", EXPERTS);
      say("expert_used_count", EXPERTS_USED);
      say("expert_feed_forward_length", sizes.feedForward);
      say("expert_shared_feed_forward_length", sizes.feedForward);
    }
  }

  /** Sets metadata with the architecture as prefix. */
  void say(String key, GgufValue value) {
    metadata.put(sizes.architecture + "." + key, value);
  }

  void say(String key, int value) {
    say(key, GgufValue.uint32(value));
  }

  private void describeAsJson() {
    json.addProperty("model_type", sizes.architecture);
    json.addProperty("hidden_act", "silu");
    json.addProperty("num_hidden_layers", sizes.layers);
    json.addProperty("hidden_size", sizes.hidden);
    json.addProperty("intermediate_size", sizes.feedForward);
    json.addProperty("num_attention_heads", sizes.queryHeads);
    json.addProperty("num_key_value_heads", sizes.kvHeads);
    json.addProperty("head_dim", sizes.keyDim);
    json.addProperty("vocab_size", sizes.vocabulary);
    json.addProperty("max_position_embeddings", CONTEXT);
    json.addProperty("rms_norm_eps", EPSILON);
    json.addProperty("rope_theta", ROPE_BASE);
    if (hasExperts()) {
      json.addProperty("num_experts", EXPERTS);
      json.addProperty("num_experts_per_tok", EXPERTS_USED);
      json.addProperty("moe_intermediate_size", sizes.feedForward);
      json.addProperty("shared_expert_intermediate_size", sizes.feedForward);
      json.addProperty("norm_topk_prob", sizes.architecture.equals("qwen3moe"));
    }
  }

  /** Returns the angle that a position adds to each channel pair. */
  double[] frequencies() {
    double[] frequencies = new double[sizes.keyDim / 2];
    for (int i = 0; i < frequencies.length; i++) {
      double divisor = ropeDivisors == null ? 1 : ropeDivisors[i];
      frequencies[i] = Math.pow(ROPE_BASE, -2.0 * i / sizes.keyDim) / divisor;
    }
    return frequencies;
  }

  float[] floats(String name) {
    return tensors.get(name).floats();
  }

  Path writeGguf(Path file) {
    GgufWriter writer = new GgufWriter();
    metadata.forEach(writer::put);
    if (ropeDivisors != null) {
      float[] divisors = new float[ropeDivisors.length];
      for (int i = 0; i < divisors.length; i++) {
        divisors[i] = (float) ropeDivisors[i];
      }
      writer.floats("rope_freqs.weight", divisors, divisors.length);
    }
    tensors.keySet().forEach(name -> put(name, writer));
    return writer.writeTo(file);
  }

  /** Writes that many files; the first has the metadata. */
  List<Path> writeParts(Path folder, int count) {
    List<String> names = List.copyOf(tensors.keySet());
    List<Path> files = new ArrayList<>();
    for (int index = 0; index < count; index++) {
      GgufWriter writer = new GgufWriter();
      if (index == 0) {
        metadata.forEach(writer::put);
      }
      writer.part(index, count, names.size());
      int from = index * names.size() / count;
      int to = (index + 1) * names.size() / count;
      names.subList(from, to).forEach(name -> put(name, writer));
      files.add(writer.writeTo(folder.resolve(GgufWriter.partName(index, count))));
    }
    return files;
  }

  private void put(String name, GgufWriter writer) {
    if (name.contains(".experts.") && !name.contains(".experts.0.")) {
      return; // is in the first file
    }
    TinyTensor laid = asConverted(name, tensors.get(name));
    writer.tensor(ggufName(name), laid.type(), laid.bytes(), laid.shape());
  }

  private TinyTensor asConverted(String name, TinyTensor tensor) {
    if (name.contains(".experts.0.")) {
      return TinyTensor.stacked(
          IntStream.range(0, EXPERTS)
              .mapToObj(expert -> name.replace("experts.0", "experts." + expert))
              .map(tensors::get)
              .toList());
    }
    if (name.contains("shared_expert_gate") && !convertedAsRow) {
      return new TinyTensor(tensor.type(), tensor.bytes(), new long[] {sizes.hidden});
    }
    boolean neighbours = sizes.architecture.equals("llama") || sizes.architecture.equals("mistral");
    if (neighbours && name.contains("q_proj")) {
      return tensor.withNeighbouringHalves(sizes.queryHeads);
    }
    if (neighbours && name.contains("k_proj")) {
      return tensor.withNeighbouringHalves(sizes.kvHeads);
    }
    return tensor;
  }

  static String ggufName(String name) {
    return name.replace("model.layers.", "blk.")
        .replace("model.embed_tokens", "token_embd")
        .replace("model.norm", "output_norm")
        .replace("lm_head", "output")
        .replace("input_layernorm", "attn_norm")
        .replace("post_attention_layernorm", "ffn_norm")
        .replace("self_attn.q_a_proj", "attn_q_a")
        .replace("self_attn.q_a_layernorm", "attn_q_a_norm")
        .replace("self_attn.q_b_proj", "attn_q_b")
        .replace("self_attn.kv_a_proj_with_mqa", "attn_kv_a_mqa")
        .replace("self_attn.kv_a_layernorm", "attn_kv_a_norm")
        .replace("self_attn.kv_b_proj", "attn_kv_b")
        .replace("self_attn.k_b_proj", "attn_k_b")
        .replace("self_attn.v_b_proj", "attn_v_b")
        .replace("self_attn.q_norm", "attn_q_norm")
        .replace("self_attn.k_norm", "attn_k_norm")
        .replace("self_attn.q_proj", "attn_q")
        .replace("self_attn.k_proj", "attn_k")
        .replace("self_attn.v_proj", "attn_v")
        .replace("self_attn.o_proj", "attn_output")
        .replace("mlp.gate.", "ffn_gate_inp.")
        .replace("mlp.experts.0.gate_proj", "ffn_gate_exps")
        .replace("mlp.experts.0.up_proj", "ffn_up_exps")
        .replace("mlp.experts.0.down_proj", "ffn_down_exps")
        .replace("mlp.shared_expert_gate", "ffn_gate_inp_shexp")
        .replace("mlp.shared_expert.gate_proj", "ffn_gate_shexp")
        .replace("mlp.shared_expert.up_proj", "ffn_up_shexp")
        .replace("mlp.shared_expert.down_proj", "ffn_down_shexp")
        .replace("mlp.gate_proj", "ffn_gate")
        .replace("mlp.up_proj", "ffn_up")
        .replace("mlp.down_proj", "ffn_down");
  }

  /** Writes a Hugging Face folder; its tensors must be floats. */
  Path writeFolder(Path folder) {
    SafetensorsWriter writer = new SafetensorsWriter();
    tensors.forEach(
        (name, tensor) ->
            writer.tensor(name, tensor.type().name(), tensor.bytes(), tensor.shape()));
    try {
      Files.createDirectories(folder);
      Files.writeString(folder.resolve("config.json"), json.toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    writer.writeTo(folder.resolve("model.safetensors"));
    return folder;
  }
}
