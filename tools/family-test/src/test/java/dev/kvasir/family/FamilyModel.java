package dev.kvasir.family;

import com.google.gson.JsonObject;
import dev.kvasir.format.GgufValue;
import dev.kvasir.format.GgufWriter;
import dev.kvasir.format.SafetensorsWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A tiny random decoder, as a GGUF file and as a Hugging Face folder. Its weights depend only on
 * its name.
 */
final class FamilyModel {
  static final int VOCABULARY = 96;
  static final int CONTEXT = 1024;

  private final String name;
  private final String architecture;
  private final FamilySizes sizes;
  private final Map<String, GgufValue> metadata = new LinkedHashMap<>();
  private final Map<String, TensorValues> tensors = new LinkedHashMap<>();
  private final Map<String, byte[]> mxfp4 = new LinkedHashMap<>();
  private final JsonObject json = new JsonObject();
  private final Map<String, FolderTensor> folder = new LinkedHashMap<>();
  private float normShift;

  /**
   * @param architecture name in GGUF
   * @param modelType name in Hugging Face
   */
  FamilyModel(String name, String architecture, String modelType, FamilySizes sizes) {
    this.name = name;
    this.architecture = architecture;
    this.sizes = sizes;
    metadata.put("general.architecture", GgufValue.string(architecture));
    metadata.put("general.name", GgufValue.string(name));
    metadata.put("tokenizer.ggml.model", GgufValue.string("no_vocab"));
    json("model_type", modelType);
    describe();
  }

  private void describe() {
    putMetadata("vocab_size", VOCABULARY);
    json("vocab_size", VOCABULARY);
    putMetadata("context_length", CONTEXT);
    json("max_position_embeddings", CONTEXT);
    putMetadata("block_count", sizes.layers());
    json("num_hidden_layers", sizes.layers());
    putMetadata("embedding_length", sizes.hidden());
    json("hidden_size", sizes.hidden());
    putMetadata("feed_forward_length", sizes.feedForward());
    json("intermediate_size", sizes.feedForward());
    putMetadata("attention.head_count", sizes.queryHeads());
    json("num_attention_heads", sizes.queryHeads());
    putMetadata("attention.head_count_kv", sizes.kvHeads());
    json("num_key_value_heads", sizes.kvHeads());
    epsilon(1e-3f); // large enough to expose a wrong value
    json("pad_token_id", 0); // the default of transformers exceeds this vocabulary
  }

  void epsilon(float epsilon) {
    putMetadata("attention.layer_norm_rms_epsilon", epsilon);
    json("rms_norm_eps", epsilon);
  }

  /** Adds a vocabulary, so that sessions can generate text: a character for each token. */
  FamilyModel withVocabulary() {
    GgufValue[] texts = new GgufValue[VOCABULARY];
    Arrays.setAll(texts, id -> GgufValue.string(Character.toString('!' + id)));
    texts[VOCABULARY - 2] = GgufValue.string("\u0100"); // a zero byte
    texts[VOCABULARY - 1] = GgufValue.string("!!");
    GgufValue[] types = new GgufValue[VOCABULARY];
    Arrays.fill(types, GgufValue.int32(1));
    metadata.put("tokenizer.ggml.model", GgufValue.string("gpt2"));
    metadata.put("tokenizer.ggml.pre", GgufValue.string("gpt-2"));
    metadata.put("tokenizer.ggml.tokens", array(texts));
    metadata.put("tokenizer.ggml.token_type", array(types));
    metadata.put("tokenizer.ggml.merges", array(GgufValue.string("! !")));
    return this;
  }

  static GgufValue array(GgufValue... values) {
    return GgufValue.array(values[0], Arrays.copyOfRange(values, 1, values.length));
  }

  String name() {
    return name;
  }

  FamilySizes sizes() {
    return sizes;
  }

  void headDim(int dim) {
    putMetadata("attention.key_length", dim);
    putMetadata("attention.value_length", dim);
    json("head_dim", dim);
  }

  void ropeBase(float base) {
    putMetadata("rope.freq_base", base);
    json("rope_theta", base);
  }

  void putMetadata(String key, GgufValue value) {
    metadata.put(architecture + "." + key, value);
  }

  void putMetadata(String key, int value) {
    putMetadata(key, GgufValue.uint32(value));
  }

  void putMetadata(String key, float value) {
    putMetadata(key, GgufValue.float32(value));
  }

  void putMetadata(String key, String value) {
    putMetadata(key, GgufValue.string(value));
  }

  void putMetadata(String key, boolean value) {
    putMetadata(key, new GgufValue(7, new byte[] {(byte) (value ? 1 : 0)}));
  }

  void json(String key, Number value) {
    json.addProperty(key, value);
  }

  void json(String key, String value) {
    json.addProperty(key, value);
  }

  void json(String key, boolean value) {
    json.addProperty(key, value);
  }

  JsonObject json() {
    return json;
  }

  /** Sets what folders of the family subtract from the weights of norms. */
  void storeNormsWithout(float shift) {
    normShift = shift;
  }

  /** Returns random values that depend on the model and the tensor. */
  TensorValues random(String tensor, double middle, double spread, int... shape) {
    return TensorValues.random(name + "/" + tensor, middle, spread, shape);
  }

  /** Returns a matrix whose products are {@code gain} times as large as its input. */
  TensorValues randomMatrix(String tensor, double gain, int... shape) {
    return random(tensor, 0, gain / Math.sqrt(shape[shape.length - 1]), shape);
  }

  void gguf(String tensor, TensorValues values) {
    if (tensors.put(tensor, values) != null) {
      throw new IllegalArgumentException(tensor + " is there already");
    }
  }

  /** Adds values that MXFP4 represents exactly. */
  void ggufMxfp4(String tensor, TensorValues values) {
    gguf(tensor, values);
    mxfp4.put(tensor, Mxfp4.gguf(values));
  }

  void folder(String tensor, FolderTensor values) {
    if (folder.put(tensor, values) != null) {
      throw new IllegalArgumentException(tensor + " is there already");
    }
  }

  void folder(String tensor, TensorValues values) {
    folder(tensor, FolderTensor.f32(values));
  }

  /** Adds a matrix with the same values in both formats; names are without {@code .weight}. */
  void matrix(String gguf, String huggingFace, double gain, int rows, int columns) {
    TensorValues values = randomMatrix(gguf, gain, rows, columns);
    gguf(gguf + ".weight", values);
    folder(huggingFace + ".weight", values);
  }

  void bias(String gguf, String huggingFace, double spread, int length) {
    TensorValues values = random(gguf + ".bias", 0, spread, length);
    gguf(gguf + ".bias", values);
    folder(huggingFace + ".bias", values);
  }

  void norm(String gguf, String huggingFace, int length) {
    norm(gguf, huggingFace, 1, length);
  }

  private void norm(String gguf, String huggingFace, double middle, int length) {
    TensorValues stored = random(gguf, middle - normShift, 0.3 * middle, length);
    gguf(gguf + ".weight", stored.plus(normShift));
    folder(huggingFace + ".weight", stored);
  }

  /** Adds the embedding, the final norm and separate output weights. */
  void ends() {
    embedding(1);
    norm("output_norm", "model.norm", sizes.hidden());
    json("tie_word_embeddings", false);
    matrix("output", "lm_head", 2, VOCABULARY, sizes.hidden());
  }

  /**
   * Adds the embedding as output weights too. It is small, since otherwise every token would
   * predict itself; the final norm compensates.
   */
  void tiedEnds(double embeddingSize, double outputNorm) {
    embedding(embeddingSize);
    norm("output_norm", "model.norm", outputNorm, sizes.hidden());
    json("tie_word_embeddings", true);
  }

  private void embedding(double size) {
    TensorValues embedding = random("token_embd", 0, size, VOCABULARY, sizes.hidden());
    gguf("token_embd.weight", embedding);
    folder("model.embed_tokens.weight", embedding);
  }

  static String gguf(int layer) {
    return "blk." + layer + ".";
  }

  static String huggingFace(int layer) {
    return "model.layers." + layer + ".";
  }

  Path writeGguf(Path file) {
    GgufWriter writer = new GgufWriter();
    metadata.forEach(writer::put);
    tensors.forEach((tensor, values) -> write(tensor, values, writer));
    return writer.writeTo(file);
  }

  private void write(String tensor, TensorValues values, GgufWriter writer) {
    if (mxfp4.containsKey(tensor)) {
      writer.tensor(tensor, Mxfp4.GGUF_TYPE, mxfp4.get(tensor), values.longShape());
    } else {
      writer.floats(tensor, values.floats(), values.longShape());
    }
  }

  Path writeFolder(Path path) {
    SafetensorsWriter writer = new SafetensorsWriter();
    folder.forEach((tensor, of) -> writer.tensor(tensor, of.dtype(), of.bytes(), of.shape()));
    try {
      Files.createDirectories(path);
      Files.writeString(path.resolve("config.json"), json.toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    writer.writeTo(path.resolve("model.safetensors"));
    return path;
  }
}
