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

  /**
   * A tensor to write.
   *
   * @param outputs rows; 0 for a vector of ones
   * @param matrices stacked in the tensor; 0 for a plain matrix
   * @param isQuantized whether it has the weight type; otherwise it has 32-bit floats
   */
  private record TensorSpec(
      String name, int inputs, int outputs, int matrices, boolean isQuantized) {
    TensorSpec(String name, int inputs, int outputs) {
      this(name, inputs, outputs, 0, outputs > 0);
    }

    long rows() {
      return (long) outputs * Math.max(1, matrices);
    }

    long[] shape() {
      return outputs == 0
          ? new long[] {inputs}
          : matrices == 0 ? new long[] {inputs, outputs} : new long[] {inputs, outputs, matrices};
    }
  }

  private final ModelPreset shape;
  private final int layers;
  private final RandomWeightType type;
  private final List<TensorSpec> tensors = new ArrayList<>();
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
    tensors.add(new TensorSpec("token_embd.weight", width, vocabulary));
    tensors.add(new TensorSpec("output_norm.weight", width, 0));
    tensors.add(new TensorSpec("output.weight", width, vocabulary));
    for (int layer = 0; layer < layers; layer++) {
      String block = "blk.%d.".formatted(layer);
      tensors.add(new TensorSpec(block + "attn_norm.weight", width, 0));
      tensors.add(new TensorSpec(block + "attn_q.weight", width, width));
      tensors.add(new TensorSpec(block + "attn_k.weight", width, shape.kvWidth()));
      tensors.add(new TensorSpec(block + "attn_v.weight", width, shape.kvWidth()));
      tensors.add(new TensorSpec(block + "attn_output.weight", width, width));
      tensors.add(new TensorSpec(block + "ffn_norm.weight", width, 0));
      listFeedForward(block);
    }
  }

  private void listFeedForward(String block) {
    int width = shape.width;
    int wide = shape.feedForward;
    int experts = shape.experts;
    String ending = experts > 0 ? "_exps.weight" : ".weight";
    if (experts > 0) {
      tensors.add(new TensorSpec(block + "ffn_gate_inp.weight", width, experts, 0, false));
    }
    tensors.add(new TensorSpec(block + "ffn_gate" + ending, width, wide, experts, true));
    tensors.add(new TensorSpec(block + "ffn_up" + ending, width, wide, experts, true));
    tensors.add(new TensorSpec(block + "ffn_down" + ending, wide, width, experts, true));
  }

  private void putMetadata(GgufMetadata tokenizer, int vocabulary) {
    putString("general.architecture", "llama");
    putString("general.name", "random %s, %d layers".formatted(shape.typed(), layers));
    putInt("llama.block_count", layers);
    putInt("llama.context_length", CONTEXT);
    putInt("llama.embedding_length", shape.width);
    putInt("llama.feed_forward_length", shape.feedForward);
    if (shape.experts > 0) {
      putInt("llama.expert_count", shape.experts);
      putInt("llama.expert_used_count", shape.expertsUsed);
    }
    putInt("llama.attention.head_count", shape.queryHeads);
    putInt("llama.attention.head_count_kv", shape.kvHeads);
    putInt("llama.vocab_size", vocabulary);
    putFloat("llama.rope.freq_base", 500_000);
    putFloat("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    putString("tokenizer.ggml.model", tokenizer.requireString("tokenizer.ggml.model"));
    putString("tokenizer.ggml.pre", tokenizer.requireString("tokenizer.ggml.pre"));
    putStrings("tokenizer.ggml.tokens", tokenizer);
    putStrings("tokenizer.ggml.merges", tokenizer);
    putKinds(tokenizer.integers("tokenizer.ggml.token_type").orElseThrow());
    putInt("tokenizer.ggml.eos_token_id", tokenizer.requireInteger("tokenizer.ggml.eos_token_id"));
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

  private void putKinds(long[] kinds) {
    putKey("tokenizer.ggml.token_type", ARRAY);
    ensureCapacity(Integer.BYTES + Long.BYTES).putInt(INT32).putLong(kinds.length);
    for (long kind : kinds) {
      ensureCapacity(Integer.BYTES).putInt((int) kind);
    }
  }

  private void putTensors() {
    long at = 0;
    for (TensorSpec tensor : tensors) {
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

  private long bytes(TensorSpec tensor) {
    long values = tensor.inputs() * Math.max(1, tensor.rows());
    return tensor.isQuantized() ? type.bytes(values) : Float.BYTES * values;
  }

  private static long aligned(long bytes) {
    return Math.ceilDiv(bytes, ALIGNMENT) * ALIGNMENT;
  }

  private void writeTensor(WritableByteChannel out, TensorSpec tensor, SplittableRandom random)
      throws IOException {
    if (tensor.outputs() == 0) {
      ByteBuffer ones = ByteBuffer.allocate((int) bytes(tensor)).order(ByteOrder.LITTLE_ENDIAN);
      while (ones.hasRemaining()) {
        ones.putFloat(1);
      }
      writeAll(out, ones.flip());
    }
    for (long row = 0; row < tensor.rows(); row++) {
      int inputs = tensor.inputs();
      writeAll(out, tensor.isQuantized() ? type.row(inputs, random) : floats(inputs, random));
    }
    pad(out, bytes(tensor));
  }

  private static ByteBuffer floats(int inputs, SplittableRandom random) {
    ByteBuffer row = ByteBuffer.allocate(Float.BYTES * inputs).order(ByteOrder.LITTLE_ENDIAN);
    while (row.hasRemaining()) {
      row.putFloat((float) (random.nextGaussian() / Math.sqrt(inputs)));
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
