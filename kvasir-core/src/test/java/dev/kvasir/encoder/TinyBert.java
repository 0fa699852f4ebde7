package dev.kvasir.encoder;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import dev.kvasir.format.GgmlType;
import dev.kvasir.format.GgufValue;
import dev.kvasir.format.GgufWriter;
import dev.kvasir.format.SafetensorsBytes;
import dev.kvasir.format.Tensor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** A small encoder with random weights, and its results in double precision. */
public final class TinyBert {
  /** The families, which differ in positions, feed-forward layers and names. */
  public enum Kind {
    BERT,
    XLM_ROBERTA,
    NOMIC_BERT
  }

  static final int LAYERS = 2;
  static final int HIDDEN = 12;
  static final int HEADS = 3;
  static final int WIDE = 20;
  static final int POSITIONS = 16;

  private static final double ROPE_BASE = 1000;

  /** Of RoBERTa, whose first position follows the one of the padding token. */
  private static final int FIRST_POSITION = 2;

  private static final List<String> WORDS =
      List.of("[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "sea", "is", "calm", "##er");

  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  final Map<String, float[]> weights = new LinkedHashMap<>();
  private final Map<String, long[]> shapes = new LinkedHashMap<>();
  private final Random random = new Random(11);
  private final Kind kind;

  public TinyBert() {
    this(Kind.BERT, false);
  }

  /**
   * @param hasHead whether it scores pairs
   */
  public TinyBert(Kind kind, boolean hasHead) {
    this.kind = kind;
    add("embeddings.word_embeddings.weight", WORDS.size(), HIDDEN);
    if (kind != Kind.NOMIC_BERT) {
      int first = kind == Kind.XLM_ROBERTA ? FIRST_POSITION : 0;
      add("embeddings.position_embeddings.weight", first + POSITIONS, HIDDEN);
    }
    add("embeddings.token_type_embeddings.weight", 2, HIDDEN);
    addNorm("embeddings.LayerNorm");
    for (int layer = 0; layer < LAYERS; layer++) {
      String prefix = "encoder.layer.%d.".formatted(layer);
      addLinear(prefix + "attention.self.query", HIDDEN, HIDDEN);
      addLinear(prefix + "attention.self.key", HIDDEN, HIDDEN);
      addLinear(prefix + "attention.self.value", HIDDEN, HIDDEN);
      addLinear(prefix + "attention.output.dense", HIDDEN, HIDDEN);
      addNorm(prefix + "attention.output.LayerNorm");
      addLinear(prefix + "intermediate.dense", WIDE, HIDDEN);
      if (kind == Kind.NOMIC_BERT) {
        addLinear(prefix + "intermediate.gate", WIDE, HIDDEN);
      }
      addLinear(prefix + "output.dense", HIDDEN, WIDE);
      addNorm(prefix + "output.LayerNorm");
    }
    if (hasHead) {
      addLinear(kind == Kind.BERT ? "pooler.dense" : "classifier.dense", HIDDEN, HIDDEN);
      addLinear(kind == Kind.BERT ? "classifier" : "classifier.out_proj", 1, HIDDEN);
    }
  }

  private void addLinear(String name, int rows, int columns) {
    add(name + ".weight", rows, columns);
    if (kind != Kind.NOMIC_BERT) {
      add(name + ".bias", rows);
    }
  }

  private void addNorm(String name) {
    add(name + ".weight", HIDDEN);
    add(name + ".bias", HIDDEN);
  }

  private void add(String name, long... shape) {
    long count = 1;
    for (long size : shape) {
      count *= size;
    }
    float[] values = new float[(int) count];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextGaussian();
    }
    weights.put(name, values);
    shapes.put(name, shape);
  }

  /** Writes the folder. */
  public Path write(Path folder) throws IOException {
    Files.writeString(folder.resolve("config.json"), config());
    Files.writeString(folder.resolve("tokenizer.json"), tokenizer());
    try (FileChannel out = FileChannel.open(folder.resolve("model.safetensors"), CREATE, WRITE)) {
      SafetensorsBytes.write(tensors(), Map.of("format", "pt"), out);
    }
    return folder;
  }

  /** Writes the same model as a GGUF file. */
  Path writeGguf(Path file) {
    String name = kind == Kind.NOMIC_BERT ? "nomic-bert" : "bert";
    GgufWriter writer =
        new GgufWriter()
            .put("general.architecture", name)
            .put(name + ".block_count", LAYERS)
            .put(name + ".embedding_length", HIDDEN)
            .put(name + ".attention.head_count", HEADS)
            .put(name + ".feed_forward_length", WIDE)
            .put(name + ".context_length", POSITIONS)
            .put(name + ".attention.layer_norm_epsilon", 1e-12f)
            .put(name + ".pooling_type", 1)
            .put("tokenizer.ggml.model", "bert")
            .put("tokenizer.ggml.tokens", ggufTokens());
    if (kind == Kind.NOMIC_BERT) {
      writer.put(name + ".rope.freq_base", (float) ROPE_BASE);
    }
    for (Tensor tensor : tensors()) {
      writer.floats(BertNames.gguf(canonical(tensor.name())), tensor.toFloats(), tensor.shape());
    }
    return writer.writeTo(file);
  }

  /** Returns the tensors under the names of the family. */
  private List<Tensor> tensors() {
    List<Tensor> all = new ArrayList<>();
    for (String name : weights.keySet()) {
      if (kind == Kind.NOMIC_BERT && name.endsWith("self.query.weight")) {
        all.add(fused(name.replace("query.weight", "")));
      } else if (kind != Kind.NOMIC_BERT || !name.contains("attention.self.")) {
        all.add(tensor(ofFamily(name), weights.get(name), shapes.get(name)));
      }
    }
    return all;
  }

  private Tensor fused(String prefix) {
    float[] whole = new float[3 * HIDDEN * HIDDEN];
    int at = 0;
    for (String part : List.of("query", "key", "value")) {
      System.arraycopy(weights.get(prefix + part + ".weight"), 0, whole, at, HIDDEN * HIDDEN);
      at += HIDDEN * HIDDEN;
    }
    String name = ofFamily(prefix + "query_key_value.weight");
    return tensor(name, whole, new long[] {3 * HIDDEN, HIDDEN});
  }

  private static final String[][] NOMIC_NAMES = {
    {"embeddings.LayerNorm", "emb_ln"},
    {"encoder.layer.", "encoder.layers."},
    {"attention.self.query_key_value", "attn.Wqkv"},
    {"attention.output.dense", "attn.out_proj"},
    {"attention.output.LayerNorm", "norm1"},
    {"intermediate.dense", "mlp.fc11"},
    {"intermediate.gate", "mlp.fc12"},
    {"output.dense", "mlp.fc2"},
    {"output.LayerNorm", "norm2"},
  };

  private String ofFamily(String name) {
    if (kind == Kind.XLM_ROBERTA && !name.startsWith("classifier")) {
      return "roberta." + name;
    }
    String result = name;
    for (String[] pair : NOMIC_NAMES) {
      result = kind == Kind.NOMIC_BERT ? result.replace(pair[0], pair[1]) : result;
    }
    return result;
  }

  private String canonical(String name) {
    String result = name.replace("roberta.", "");
    for (String[] pair : NOMIC_NAMES) {
      result = kind == Kind.NOMIC_BERT ? result.replace(pair[1], pair[0]) : result;
    }
    return result;
  }

  private static GgufValue ggufTokens() {
    GgufValue[] tokens =
        WORDS.stream().map(TinyBert::ggufToken).map(GgufValue::string).toArray(GgufValue[]::new);
    return GgufValue.array(tokens[0], Arrays.copyOfRange(tokens, 1, tokens.length));
  }

  private static String ggufToken(String word) {
    if (word.startsWith("[")) {
      return word;
    }
    return word.startsWith("##") ? word.substring(2) : "\u2581" + word;
  }

  private static Tensor tensor(String name, float[] values, long[] shape) {
    MemorySegment data = MemorySegment.ofArray(new byte[values.length * Float.BYTES]);
    MemorySegment.copy(values, 0, data, FLOAT, 0, values.length);
    return new Tensor(name, GgmlType.F32, shape, data);
  }

  private String config() {
    return switch (kind) {
      case BERT -> config("bert");
      case XLM_ROBERTA ->
          config("xlm-roberta")
              .replace(
                  "\"max_position_embeddings\": " + POSITIONS,
                  "\"pad_token_id\": 1, \"max_position_embeddings\": "
                      + (FIRST_POSITION + POSITIONS));
      case NOMIC_BERT ->
          """
          {"model_type": "nomic_bert", "n_layer": %d, "n_embd": %d, "n_head": %d, "n_inner": %d,
           "vocab_size": %d, "n_positions": 64, "max_trained_positions": %d,
           "activation_function": "swiglu", "rotary_emb_base": %s, "prenorm": false,
           "layer_norm_epsilon": 1e-12}"""
              .formatted(LAYERS, HIDDEN, HEADS, WIDE, WORDS.size(), POSITIONS, ROPE_BASE);
    };
  }

  static String config(String type) {
    return """
        {"model_type": "%s", "num_hidden_layers": %d, "hidden_size": %d, "num_attention_heads": %d,
         "intermediate_size": %d, "vocab_size": %d, "max_position_embeddings": %d,
         "hidden_act": "gelu", "layer_norm_eps": 1e-12}"""
        .formatted(type, LAYERS, HIDDEN, HEADS, WIDE, WORDS.size(), POSITIONS);
  }

  private static String tokenizer() {
    StringBuilder vocabulary = new StringBuilder();
    for (int i = 0; i < WORDS.size(); i++) {
      vocabulary.append(i == 0 ? "" : ",").append("\"%s\":%d".formatted(WORDS.get(i), i));
    }
    return """
        {"version":"1.0","truncation":null,"padding":null,"added_tokens":[],
         "normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,
           "strip_accents":null,"lowercase":true},
         "pre_tokenizer":{"type":"BertPreTokenizer"},
         "post_processor":{"type":"BertProcessing","sep":["[SEP]",3],"cls":["[CLS]",2]},
         "decoder":null,
         "model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##",
           "max_input_chars_per_word":100,"vocab":{%s}}}"""
        .formatted(vocabulary);
  }

  /** Returns the logit of a pair of texts from the definition. */
  double logit(int[] tokens, int[] types) {
    boolean isBert = kind == Kind.BERT;
    double[] pooled =
        linear(encode(tokens, types)[0], isBert ? "pooler.dense" : "classifier.dense");
    for (int i = 0; i < pooled.length; i++) {
      pooled[i] = Math.tanh(pooled[i]);
    }
    return linear(pooled, isBert ? "classifier" : "classifier.out_proj")[0];
  }

  /** Returns the vectors of a text's tokens. */
  double[][] encode(int[] tokens) {
    return encode(tokens, new int[tokens.length]);
  }

  /** Returns the vectors of tokens, computed one by one from the definition. */
  double[][] encode(int[] tokens, int[] types) {
    double[][] x = new double[tokens.length][HIDDEN];
    for (int row = 0; row < tokens.length; row++) {
      for (int i = 0; i < HIDDEN; i++) {
        x[row][i] =
            (double) weights.get("embeddings.word_embeddings.weight")[tokens[row] * HIDDEN + i]
                + position(row, i)
                + weights.get("embeddings.token_type_embeddings.weight")[types[row] * HIDDEN + i];
      }
      x[row] = norm(x[row], "embeddings.LayerNorm");
    }
    for (int layer = 0; layer < LAYERS; layer++) {
      String prefix = "encoder.layer.%d.".formatted(layer);
      double[][] attended = attention(x, prefix);
      for (int row = 0; row < x.length; row++) {
        double[] out = linear(attended[row], prefix + "attention.output.dense");
        x[row] = norm(sum(x[row], out), prefix + "attention.output.LayerNorm");
        double[] wide = linear(x[row], prefix + "intermediate.dense");
        double[] gate =
            kind == Kind.NOMIC_BERT ? linear(x[row], prefix + "intermediate.gate") : wide.clone();
        for (int i = 0; i < wide.length; i++) {
          wide[i] *=
              kind == Kind.NOMIC_BERT
                  ? gate[i] / (1 + Math.exp(-gate[i]))
                  : normalDistribution(gate[i]);
        }
        x[row] =
            norm(sum(x[row], linear(wide, prefix + "output.dense")), prefix + "output.LayerNorm");
      }
    }
    return x;
  }

  private double position(int row, int channel) {
    if (kind == Kind.NOMIC_BERT) {
      return 0;
    }
    int position = row + (kind == Kind.XLM_ROBERTA ? FIRST_POSITION : 0);
    return weights.get("embeddings.position_embeddings.weight")[position * HIDDEN + channel];
  }

  /** Rotates the heads of a vector, as complex numbers. */
  private double[] rotated(double[] x, int position) {
    if (kind != Kind.NOMIC_BERT) {
      return x;
    }
    int size = HIDDEN / HEADS;
    double[] out = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      int pair = i % size % (size / 2);
      double angle = position / Math.pow(ROPE_BASE, 2.0 * pair / size);
      boolean isReal = i % size < size / 2;
      out[i] =
          isReal
              ? x[i] * Math.cos(angle) - x[i + size / 2] * Math.sin(angle)
              : x[i] * Math.cos(angle) + x[i - size / 2] * Math.sin(angle);
    }
    return out;
  }

  private double[][] attention(double[][] x, String prefix) {
    int size = HIDDEN / HEADS;
    double[][] out = new double[x.length][HIDDEN];
    for (int row = 0; row < x.length; row++) {
      double[] query = rotated(linear(x[row], prefix + "attention.self.query"), row);
      for (int head = 0; head < HEADS; head++) {
        double[] weight = new double[x.length];
        double total = 0;
        for (int other = 0; other < x.length; other++) {
          double[] key = rotated(linear(x[other], prefix + "attention.self.key"), other);
          double dot = 0;
          for (int i = head * size; i < (head + 1) * size; i++) {
            dot += query[i] * key[i];
          }
          weight[other] = Math.exp(dot / Math.sqrt(size));
          total += weight[other];
        }
        for (int other = 0; other < x.length; other++) {
          double[] value = linear(x[other], prefix + "attention.self.value");
          for (int i = head * size; i < (head + 1) * size; i++) {
            out[row][i] += weight[other] / total * value[i];
          }
        }
      }
    }
    return out;
  }

  private double[] linear(double[] x, String name) {
    float[] matrix = weights.get(name + ".weight");
    float[] bias = weights.get(name + ".bias"); // null without
    double[] out = new double[matrix.length / x.length];
    for (int row = 0; row < out.length; row++) {
      out[row] = bias == null ? 0 : bias[row];
      for (int i = 0; i < x.length; i++) {
        out[row] += matrix[row * x.length + i] * x[i];
      }
    }
    return out;
  }

  private double[] norm(double[] x, String name) {
    double mean = 0;
    for (double value : x) {
      mean += value / x.length;
    }
    double variance = 0;
    for (double value : x) {
      variance += (value - mean) * (value - mean) / x.length;
    }
    double[] out = new double[x.length];
    for (int i = 0; i < out.length; i++) {
      out[i] =
          (x[i] - mean) / Math.sqrt(variance + 1e-12) * weights.get(name + ".weight")[i]
              + weights.get(name + ".bias")[i];
    }
    return out;
  }

  private static double[] sum(double[] a, double[] b) {
    double[] out = a.clone();
    for (int i = 0; i < out.length; i++) {
      out[i] += b[i];
    }
    return out;
  }

  /** Integrates the normal density by Simpson's rule, independent of the code under test. */
  static double normalDistribution(double x) {
    int steps = 2000;
    double width = x / steps;
    double sum = 1 + Math.exp(-x * x / 2);
    for (int i = 1; i < steps; i++) {
      double at = i * width;
      sum += (i % 2 == 0 ? 2 : 4) * Math.exp(-at * at / 2);
    }
    return 0.5 + sum * width / 3 / Math.sqrt(2 * Math.PI);
  }
}
