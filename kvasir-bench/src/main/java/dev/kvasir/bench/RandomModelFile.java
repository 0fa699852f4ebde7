package dev.kvasir.bench;

import dev.kvasir.format.AtomicFile;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.GgufMetadata;
import dev.kvasir.runtime.BundledFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Writes a GGUF file with random weights of a preset and the bundled model's tokenizer, so that it
 * accepts text prompts.
 */
final class RandomModelFile {
  private static final int ALIGNMENT = 32;
  private static final int F32 = 0;
  private static final int UINT32 = 4;
  private static final int INT32 = 5;
  private static final int FLOAT32 = 6;
  private static final int STRING = 8;
  private static final int ARRAY = 9;
  private static final int CONTEXT = 131_072;

  /** Notified after each tensor. */
  @FunctionalInterface
  interface WriteListener {
    void tensors(int done, int inAll);
  }

  private final ModelPreset shape;
  private final int layers;
  private final RandomWeightType type;
  private final List<RandomTensor> tensors = new ArrayList<>();
  private ByteBuffer header = ByteBuffer.allocate(1 << 20).order(ByteOrder.LITTLE_ENDIAN);
  private int keys;

  private RandomModelFile(ModelPreset shape, int layers, RandomWeightType type) {
    this.shape = shape;
    this.layers = layers;
    this.type = type;
  }

  static void write(
      Path file, ModelPreset shape, int layers, RandomWeightType type, WriteListener progress) {
    try (GgufFile bundled = BundledFiles.open()) {
      new RandomModelFile(shape, layers, type).write(file, bundled.metadata(), progress);
    }
  }

  private void write(Path file, GgufMetadata tokenizer, WriteListener progress) {
    int vocabulary = tokenizer.strings("tokenizer.ggml.tokens").orElseThrow().length;
    listTensors(vocabulary);
    putMetadata(tokenizer, vocabulary);
    putTensors();
    AtomicFile.write(
        file,
        out -> {
          ByteBuffer magic = ByteBuffer.allocate(24).order(ByteOrder.LITTLE_ENDIAN);
          magic.putInt(0x46554747).putInt(3).putLong(tensors.size()).putLong(keys);
          writeAll(out, magic.flip());
          writeAll(out, header.flip());
          pad(out, 24L + header.limit());
          for (int i = 0; i < tensors.size(); i++) {
            writeTensor(out, tensors.get(i), new SplittableRandom(i));
            progress.tensors(i + 1, tensors.size());
          }
        });
  }

  private void listTensors(int vocabulary) {
    int width = shape.width;
    tensors.add(new RandomTensor("token_embd.weight", width, vocabulary));
    tensors.add(RandomTensor.ones("output_norm.weight", width));
    tensors.add(new RandomTensor("output.weight", width, vocabulary));
    for (int layer = 0; layer < layers; layer++) {
      String block = "blk.%d.".formatted(layer);
      tensors.add(RandomTensor.ones(block + "attn_norm.weight", width));
      if (shape.hybrid != null && !shape.hybrid.attends(layer)) {
        shape.hybrid.list(block, width, tensors);
      } else {
        listAttention(block);
      }
      String norm = shape.hybrid == RandomHybrid.QWEN3_5 ? "post_attention_norm" : "ffn_norm";
      tensors.add(RandomTensor.ones(block + norm + ".weight", width));
      listFeedForward(block);
    }
  }

  private void listAttention(String block) {
    int width = shape.width;
    int queries = shape.queryHeads * shape.headDim();
    // Qwen 3.5 gates the heads.
    int outputs = shape.hybrid == RandomHybrid.QWEN3_5 ? 2 * queries : queries;
    tensors.add(new RandomTensor(block + "attn_q.weight", width, outputs));
    tensors.add(new RandomTensor(block + "attn_k.weight", width, shape.kvWidth()));
    tensors.add(new RandomTensor(block + "attn_v.weight", width, shape.kvWidth()));
    tensors.add(new RandomTensor(block + "attn_output.weight", queries, width));
    if (shape.hybrid == RandomHybrid.QWEN3_5) {
      tensors.add(RandomTensor.ones(block + "attn_q_norm.weight", shape.headDim()));
      tensors.add(RandomTensor.ones(block + "attn_k_norm.weight", shape.headDim()));
    }
  }

  private void listFeedForward(String block) {
    int width = shape.width;
    int wide = shape.feedForward;
    int experts = shape.experts;
    String ending = experts > 0 ? "_exps.weight" : ".weight";
    if (experts > 0) {
      tensors.add(new RandomTensor(block + "ffn_gate_inp.weight", width, experts, 0, false));
    }
    tensors.add(new RandomTensor(block + "ffn_gate" + ending, width, wide, experts, true));
    tensors.add(new RandomTensor(block + "ffn_up" + ending, width, wide, experts, true));
    tensors.add(new RandomTensor(block + "ffn_down" + ending, wide, width, experts, true));
  }

  private void putMetadata(GgufMetadata tokenizer, int vocabulary) {
    String family = shape.architecture() + ".";
    putString("general.architecture", shape.architecture());
    putString("general.name", "random %s, %d layers".formatted(shape.typed(), layers));
    putInt(family + "block_count", layers);
    putInt(family + "context_length", CONTEXT);
    putInt(family + "embedding_length", shape.width);
    putInt(family + "feed_forward_length", shape.feedForward);
    if (shape.experts > 0) {
      putInt(family + "expert_count", shape.experts);
      putInt(family + "expert_used_count", shape.expertsUsed);
    }
    putInt(family + "attention.head_count", shape.queryHeads);
    if (shape.hybrid == null) {
      putInt(family + "attention.head_count_kv", shape.kvHeads);
    } else {
      putHybrid(family);
    }
    putInt(family + "vocab_size", vocabulary);
    putFloat(family + "rope.freq_base", 500_000);
    putFloat(family + "attention.layer_norm_rms_epsilon", 1e-5f);
    putString("tokenizer.ggml.model", tokenizer.requireString("tokenizer.ggml.model"));
    putString("tokenizer.ggml.pre", tokenizer.requireString("tokenizer.ggml.pre"));
    putStrings("tokenizer.ggml.tokens", tokenizer);
    putStrings("tokenizer.ggml.merges", tokenizer);
    long[] kinds = tokenizer.integers("tokenizer.ggml.token_type").orElseThrow();
    putInts("tokenizer.ggml.token_type", Arrays.stream(kinds).mapToInt(Math::toIntExact).toArray());
    putInt("tokenizer.ggml.eos_token_id", tokenizer.requireInteger("tokenizer.ggml.eos_token_id"));
  }

  private void putHybrid(String family) {
    putInt(family + "attention.key_length", shape.headDim());
    putInt(family + "attention.value_length", shape.headDim());
    if (shape.hybrid == RandomHybrid.QWEN3_5) {
      putInt(family + "attention.head_count_kv", shape.kvHeads);
    } else {
      int[] kvHeads = new int[layers];
      Arrays.setAll(kvHeads, layer -> shape.hybrid.attends(layer) ? shape.kvHeads : 0);
      putInts(family + "attention.head_count_kv", kvHeads);
    }
    shape.hybrid.sizes().forEach((key, size) -> putInt(family + key, size));
  }

  private ByteBuffer ensureCapacity(int bytes) {
    if (header.remaining() < bytes) {
      ByteBuffer larger =
          ByteBuffer.allocate(2 * header.capacity() + bytes).order(ByteOrder.LITTLE_ENDIAN);
      header = larger.put(header.flip());
    }
    return header;
  }

  private void putText(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    ensureCapacity(Long.BYTES + bytes.length).putLong(bytes.length).put(bytes);
  }

  private void putKey(String key, int valueType) {
    keys++;
    putText(key);
    ensureCapacity(Integer.BYTES).putInt(valueType);
  }

  private void putString(String key, String value) {
    putKey(key, STRING);
    putText(value);
  }

  private void putInt(String key, int value) {
    putKey(key, UINT32);
    ensureCapacity(Integer.BYTES).putInt(value);
  }

  private void putFloat(String key, float value) {
    putKey(key, FLOAT32);
    ensureCapacity(Float.BYTES).putFloat(value);
  }

  private void putStrings(String key, GgufMetadata from) {
    String[] texts = from.strings(key).orElseThrow();
    putKey(key, ARRAY);
    ensureCapacity(Integer.BYTES + Long.BYTES).putInt(STRING).putLong(texts.length);
    for (String text : texts) {
      putText(text);
    }
  }

  private void putInts(String key, int... values) {
    putKey(key, ARRAY);
    ensureCapacity(Integer.BYTES + Long.BYTES).putInt(INT32).putLong(values.length);
    for (int value : values) {
      ensureCapacity(Integer.BYTES).putInt(value);
    }
  }

  private void putTensors() {
    long at = 0;
    for (RandomTensor tensor : tensors) {
      putText(tensor.name());
      long[] sizes = tensor.shape();
      ensureCapacity(64).putInt(sizes.length);
      for (long size : sizes) {
        header.putLong(size);
      }
      header.putInt(tensor.isQuantized() ? type.ggmlType : F32).putLong(at);
      at += aligned(bytes(tensor));
    }
  }

  private long bytes(RandomTensor tensor) {
    long values = tensor.inputs() * tensor.rows();
    return tensor.isQuantized() ? type.bytes(values) : Float.BYTES * values;
  }

  private static long aligned(long bytes) {
    return Math.ceilDiv(bytes, ALIGNMENT) * ALIGNMENT;
  }

  private void writeTensor(WritableByteChannel out, RandomTensor tensor, SplittableRandom random)
      throws IOException {
    for (long row = 0; row < tensor.rows(); row++) {
      int inputs = tensor.inputs();
      writeAll(out, tensor.isQuantized() ? type.row(inputs, random) : floats(tensor, random));
    }
    pad(out, bytes(tensor));
  }

  private static ByteBuffer floats(RandomTensor tensor, SplittableRandom random) {
    int inputs = tensor.inputs();
    ByteBuffer row = ByteBuffer.allocate(Float.BYTES * inputs).order(ByteOrder.LITTLE_ENDIAN);
    while (row.hasRemaining()) {
      boolean isRandom = Float.isNaN(tensor.constant());
      double any = random.nextGaussian() / Math.sqrt(inputs);
      row.putFloat(isRandom ? (float) any : tensor.constant());
    }
    return row.flip();
  }

  private static void pad(WritableByteChannel out, long written) throws IOException {
    writeAll(out, ByteBuffer.allocate((int) (aligned(written) - written)));
  }

  private static void writeAll(WritableByteChannel out, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      out.write(bytes);
    }
  }
}
