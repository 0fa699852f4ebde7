package dev.kvasir.cuda.engine;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A Hugging Face folder of any family with a small random model: four layers of 512 channels, four
 * query heads on two KV heads, and weights in BF16, which a device and the host read alike.
 */
final class RandomFolder {
  static final int LAYERS = 4;
  static final int VOCABULARY = 512;
  private static final int QUERY_HEADS = 4;
  private static final int KV_HEADS = 2;
  private static final int HIDDEN = 512;
  private static final int FEED_FORWARD = 768;

  /**
   * What distinguishes the files of a family.
   *
   * @param type its name in {@code config.json}
   * @param biased whether queries, keys and values have biases
   * @param normOffset what files subtract from the weights of norms
   * @param experts number of experts; 0 for a dense model
   * @param options further entries of {@code config.json}
   */
  record Family(
      String type,
      int headDim,
      Norms norms,
      HeadNorms headNorms,
      boolean biased,
      float normOffset,
      int experts,
      String options) {
    /** Returns the name of the shared expert; empty if there is none. */
    private String sharedExpert() {
      return switch (type) {
        case "qwen2_moe" -> "mlp.shared_expert.";
        case "glm4_moe" -> "mlp.shared_experts.";
        default -> "";
      };
    }

    private boolean isGptOss() {
      return type.equals("gpt_oss");
    }

    /** Returns the number of first layers without experts. */
    private int leadingDense() {
      return type.equals("glm4_moe") ? 1 : 0;
    }
  }

  /** The norms of a layer, by their names in files. */
  enum Norms {
    PRE("input_layernorm", "post_attention_layernorm"),
    POST("post_attention_layernorm", "post_feedforward_layernorm"),
    PRE_AND_POST(
        "input_layernorm",
        "post_attention_layernorm",
        "pre_feedforward_layernorm",
        "post_feedforward_layernorm");

    private final List<String> names;

    Norms(String... names) {
      this.names = List.of(names);
    }
  }

  /** Which queries and keys are normalized together. */
  enum HeadNorms {
    NONE,
    EACH,
    ALL
  }

  private final Family family;
  private final int headDim;
  private final Random random = new Random(7);
  private final Map<String, long[]> shapes = new LinkedHashMap<>();
  private float nudge;
  private int nudgeBit;

  RandomFolder(Family family) {
    this.family = family;
    this.headDim = family.headDim();
  }

  /**
   * Scales the weights of the first layer's norms by 1 ± 2^-12.
   *
   * @param bit of a channel's number that is its sign
   */
  RandomFolder nudged(int bit) {
    nudge = 0x1p-12f;
    nudgeBit = bit;
    return this;
  }

  void write(Path folder) throws IOException {
    try (RandomAccessFile file = begin(folder)) {
      for (Map.Entry<String, long[]> tensor : shapes.entrySet()) {
        file.write(numbers(tensor.getKey(), tensor.getValue()));
      }
    }
  }

  /** Writes a model of zeros, which takes no time and hardly any disk. */
  void writeZeros(Path folder) throws IOException {
    try (RandomAccessFile file = begin(folder)) {
      long bytes = shapes.values().stream().mapToLong(RandomFolder::bytes).sum();
      file.setLength(file.getFilePointer() + bytes);
    }
  }

  /** Writes all but the numbers, which go to the end of the file. */
  private RandomAccessFile begin(Path folder) throws IOException {
    Files.writeString(folder.resolve("config.json"), config());
    plan();
    byte[] header = header();
    RandomAccessFile file =
        new RandomAccessFile(folder.resolve("model.safetensors").toFile(), "rw");
    file.setLength(0);
    file.writeLong(Long.reverseBytes(header.length));
    file.write(header);
    return file;
  }

  private String config() {
    return """
    {"model_type": "%s", "num_hidden_layers": %d, "hidden_size": %d, "intermediate_size": %d,
     "num_attention_heads": %d, "num_key_value_heads": %d, "head_dim": %d, "vocab_size": %d,
     "max_position_embeddings": 4096, "rms_norm_eps": 1e-5, "tie_word_embeddings": true, %s}
    """
        .formatted(
            family.type(),
            LAYERS,
            HIDDEN,
            FEED_FORWARD,
            QUERY_HEADS,
            KV_HEADS,
            headDim,
            VOCABULARY,
            family.options());
  }

  private byte[] header() {
    List<String> entries = new ArrayList<>();
    long begin = 0;
    for (Map.Entry<String, long[]> tensor : shapes.entrySet()) {
      long[] shape = tensor.getValue();
      long end = begin + bytes(shape);
      entries.add(
          "\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%d,%d]}"
              .formatted(
                  tensor.getKey(),
                  shape.length == 1 ? "F32" : "BF16",
                  Arrays.toString(shape),
                  begin,
                  end));
      begin = end;
    }
    return "{%s}".formatted(String.join(",", entries)).getBytes(StandardCharsets.UTF_8);
  }

  private static long bytes(long[] shape) {
    long width = shape.length == 1 ? Float.BYTES : Short.BYTES;
    return width * Arrays.stream(shape).reduce(1, (a, b) -> a * b);
  }

  private void plan() {
    shapes.put("model.embed_tokens.weight", new long[] {VOCABULARY, HIDDEN});
    shapes.put("model.norm.weight", new long[] {HIDDEN});
    for (int layer = 0; layer < LAYERS; layer++) {
      String of = "model.layers.%d.".formatted(layer);
      for (String norm : family.norms().names) {
        shapes.put(of + norm + ".weight", new long[] {HIDDEN});
      }
      planAttention(of + "self_attn.");
      planFeedForward(of, family.experts() > 0 && layer >= family.leadingDense());
    }
  }

  private void planAttention(String of) {
    long queries = (long) QUERY_HEADS * headDim;
    long keys = (long) KV_HEADS * headDim;
    matrix(of + "q_proj", queries, HIDDEN, family.biased());
    matrix(of + "k_proj", keys, HIDDEN, family.biased());
    matrix(of + "v_proj", keys, HIDDEN, family.biased());
    matrix(of + "o_proj", HIDDEN, queries, family.isGptOss());
    if (family.isGptOss()) {
      shapes.put(of + "sinks", new long[] {QUERY_HEADS});
    }
    if (family.headNorms() != HeadNorms.NONE) {
      boolean each = family.headNorms() == HeadNorms.EACH;
      shapes.put(of + "q_norm.weight", new long[] {each ? headDim : queries});
      shapes.put(of + "k_norm.weight", new long[] {each ? headDim : keys});
    }
  }

  private void planFeedForward(String of, boolean routed) {
    if (!routed) {
      planGates(of + "mlp.", "gate_proj", "up_proj", "down_proj");
      return;
    }
    if (family.isGptOss()) {
      planInterleaved(of + "mlp.");
      return;
    }
    boolean isMixtral = family.type().equals("mixtral");
    String part = of + (isMixtral ? "block_sparse_moe." : "mlp.");
    matrix(part + "gate", family.experts(), HIDDEN, false);
    if (family.type().equals("glm4_moe")) {
      shapes.put(part + "gate.e_score_correction_bias", new long[] {family.experts()});
    }
    if (!family.sharedExpert().isEmpty()) {
      planGates(of + family.sharedExpert(), "gate_proj", "up_proj", "down_proj");
    }
    if (family.type().equals("qwen2_moe")) {
      matrix(part + "shared_expert_gate", 1, HIDDEN, false);
    }
    for (int expert = 0; expert < family.experts(); expert++) {
      String its = "%sexperts.%d.".formatted(part, expert);
      if (isMixtral) {
        planGates(its, "w1", "w3", "w2");
      } else {
        planGates(its, "gate_proj", "up_proj", "down_proj");
      }
    }
  }

  /** Adds experts whose gates and ups are one tensor, with inputs outermost. */
  private void planInterleaved(String of) {
    long experts = family.experts();
    matrix(of + "router", experts, HIDDEN, true);
    shapes.put(of + "experts.gate_up_proj", new long[] {experts, HIDDEN, 2 * FEED_FORWARD});
    shapes.put(of + "experts.gate_up_proj_bias", new long[] {experts, 2 * FEED_FORWARD});
    shapes.put(of + "experts.down_proj", new long[] {experts, FEED_FORWARD, HIDDEN});
    shapes.put(of + "experts.down_proj_bias", new long[] {experts, HIDDEN});
  }

  private void planGates(String of, String gate, String up, String down) {
    matrix(of + gate, FEED_FORWARD, HIDDEN, false);
    matrix(of + up, FEED_FORWARD, HIDDEN, false);
    matrix(of + down, HIDDEN, FEED_FORWARD, false);
  }

  private void matrix(String name, long rows, long columns, boolean biased) {
    shapes.put(name + ".weight", new long[] {rows, columns});
    if (biased) {
      shapes.put(name + ".bias", new long[] {rows});
    }
  }

  /**
   * Returns the numbers of a tensor: matrices in BF16, which keep the size of their input, norms
   * close to one in F32.
   */
  private byte[] numbers(String name, long[] shape) {
    int width = shape.length == 1 ? Float.BYTES : Short.BYTES;
    int count = (int) (bytes(shape) / width);
    double spread = shape.length == 1 ? 0.2 : 1.5 / Math.sqrt(shape[1]);
    double centre = name.contains("norm") ? 1 - family.normOffset() : 0;
    boolean isNudged = name.startsWith("model.layers.0.") && name.contains("norm");
    ByteBuffer bytes = ByteBuffer.allocate(width * count).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < count; i++) {
      float number = (float) (centre + spread * random.nextGaussian());
      if (shape.length == 1) {
        bytes.putFloat(
            isNudged ? number * (1 + ((i >> nudgeBit & 1) == 0 ? nudge : -nudge)) : number);
      } else {
        bytes.putShort((short) (Float.floatToRawIntBits(number) >>> 16));
      }
    }
    return bytes.array();
  }
}
