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
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** A small BERT folder with random weights, and its results in double precision. */
public final class TinyBert {
  static final int LAYERS = 2;
  static final int HIDDEN = 12;
  static final int HEADS = 3;
  static final int WIDE = 20;
  static final int POSITIONS = 16;

  private static final List<String> WORDS =
      List.of("[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "sea", "is", "calm", "##er");

  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  final Map<String, float[]> weights = new LinkedHashMap<>();
  private final Map<String, long[]> shapes = new LinkedHashMap<>();
  private final Random random = new Random(11);

  public TinyBert() {
    add("embeddings.word_embeddings.weight", WORDS.size(), HIDDEN);
    add("embeddings.position_embeddings.weight", POSITIONS, HIDDEN);
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
      addLinear(prefix + "output.dense", HIDDEN, WIDE);
      addNorm(prefix + "output.LayerNorm");
    }
  }

  private void addLinear(String name, int rows, int columns) {
    add(name + ".weight", rows, columns);
    add(name + ".bias", rows);
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
    Files.writeString(folder.resolve("config.json"), config("bert"));
    Files.writeString(folder.resolve("tokenizer.json"), tokenizer());
    try (FileChannel out = FileChannel.open(folder.resolve("model.safetensors"), CREATE, WRITE)) {
      SafetensorsBytes.write(
          weights.keySet().stream().map(this::tensor).toList(), Map.of("format", "pt"), out);
    }
    return folder;
  }

  /** Writes the same model as a GGUF file. */
  Path writeGguf(Path file) {
    GgufWriter writer =
        new GgufWriter()
            .put("general.architecture", "bert")
            .put("bert.block_count", LAYERS)
            .put("bert.embedding_length", HIDDEN)
            .put("bert.attention.head_count", HEADS)
            .put("bert.feed_forward_length", WIDE)
            .put("bert.context_length", POSITIONS)
            .put("bert.attention.layer_norm_epsilon", 1e-12f)
            .put("bert.pooling_type", 1)
            .put("tokenizer.ggml.model", "bert")
            .put("tokenizer.ggml.tokens", ggufTokens());
    weights.forEach(
        (name, values) -> writer.floats(BertNames.gguf(name), values, shapes.get(name)));
    return writer.writeTo(file);
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

  private Tensor tensor(String name) {
    float[] values = weights.get(name);
    MemorySegment data = MemorySegment.ofArray(new byte[values.length * Float.BYTES]);
    MemorySegment.copy(values, 0, data, FLOAT, 0, values.length);
    return new Tensor(name, GgmlType.F32, shapes.get(name), data);
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

  /** Returns the vectors of tokens, computed one by one from the definition. */
  double[][] encode(int[] tokens) {
    double[][] x = new double[tokens.length][HIDDEN];
    for (int row = 0; row < tokens.length; row++) {
      for (int i = 0; i < HIDDEN; i++) {
        x[row][i] =
            (double) weights.get("embeddings.word_embeddings.weight")[tokens[row] * HIDDEN + i]
                + weights.get("embeddings.position_embeddings.weight")[row * HIDDEN + i]
                + weights.get("embeddings.token_type_embeddings.weight")[i];
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
        for (int i = 0; i < wide.length; i++) {
          wide[i] *= normalDistribution(wide[i]);
        }
        x[row] =
            norm(sum(x[row], linear(wide, prefix + "output.dense")), prefix + "output.LayerNorm");
      }
    }
    return x;
  }

  private double[][] attention(double[][] x, String prefix) {
    int size = HIDDEN / HEADS;
    double[][] out = new double[x.length][HIDDEN];
    for (int row = 0; row < x.length; row++) {
      double[] query = linear(x[row], prefix + "attention.self.query");
      for (int head = 0; head < HEADS; head++) {
        double[] weight = new double[x.length];
        double total = 0;
        for (int other = 0; other < x.length; other++) {
          double[] key = linear(x[other], prefix + "attention.self.key");
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
    float[] bias = weights.get(name + ".bias");
    double[] out = new double[bias.length];
    for (int row = 0; row < out.length; row++) {
      out[row] = bias[row];
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
