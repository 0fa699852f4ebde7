package dev.kvasir.model;

import static dev.kvasir.model.Logits.assertClose;
import static dev.kvasir.model.Logits.inOneStep;
import static dev.kvasir.model.Logits.tokenByToken;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.GgufWriter;
import dev.kvasir.model.LoraAdapters.Source;
import dev.kvasir.model.TinyModel.Sizes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A model with adapters computes what one with merged weights does. */
class LoraAdaptersTest extends FreesEngines {
  private static final int RANK = 3;
  private static final float ALPHA = 5;
  private static final int[] TOKENS = {3, 14, 15, 9, 26, 5};

  /** Adapted tensors under their names in GGUF and in Hugging Face folders. */
  private static final Map<String, String> ADAPTED =
      Map.of(
          "blk.0.attn_q.weight", "model.layers.0.self_attn.q_proj.weight",
          "blk.1.attn_v.weight", "model.layers.1.self_attn.v_proj.weight",
          "blk.1.attn_output.weight", "model.layers.1.self_attn.o_proj.weight",
          "blk.0.ffn_gate.weight", "model.layers.0.mlp.gate_proj.weight",
          "blk.0.ffn_down.weight", "model.layers.0.mlp.down_proj.weight",
          "output.weight", "lm_head.weight");

  private HostEngine load(Path model, Source... adapters) {
    return TinyEngine.withAdapters(model, LoraAdapters.read(List.of(adapters)), workers);
  }

  /** Writes an adapter, and adds its products to the weights of the model. */
  private Path adapter(TinyModel model, String name, float scale, long seed) {
    Random random = new Random(seed);
    GgufWriter writer = header("qwen2");
    ADAPTED.keySet().stream()
        .sorted()
        .forEach(
            tensor -> {
              TinyTensor weights = model.tensors.get(ADAPTED.get(tensor));
              int rows = (int) weights.shape()[0];
              int columns = (int) weights.shape()[1];
              float[] down = random(random, RANK * columns);
              float[] up = random(random, rows * RANK);
              writer.floats(tensor + ".lora_a", down, new long[] {RANK, columns});
              writer.floats(tensor + ".lora_b", up, new long[] {rows, RANK});
              float[] merged = model.floats(ADAPTED.get(tensor));
              for (int i = 0; i < merged.length; i++) {
                double sum = 0;
                for (int r = 0; r < RANK; r++) {
                  sum += (double) up[i / columns * RANK + r] * down[r * columns + i % columns];
                }
                merged[i] += (float) (scale * ALPHA / RANK * sum);
              }
              model.tensors.put(ADAPTED.get(tensor), tensor(merged, weights.shape()));
            });
    return writer.writeTo(folder.resolve(name));
  }

  private static GgufWriter header(String family) {
    return new GgufWriter()
        .put("general.architecture", family)
        .put("general.type", "adapter")
        .put("adapter.type", "lora")
        .put("adapter.lora.alpha", ALPHA);
  }

  private static float[] random(Random random, int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) (0.2 * random.nextGaussian());
    }
    return values;
  }

  private static TinyTensor tensor(float[] values, long[] shape) {
    ByteBuffer bytes =
        ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(values);
    return new TinyTensor(GgmlType.F32, bytes.array(), shape);
  }

  @Test
  void logitsAreThoseOfMergedWeights() {
    TinyModel model = new TinyModel(Sizes.of("qwen2"), 7);
    Path file = model.writeGguf(folder.resolve("model.gguf"));
    Path first = adapter(model, "first.gguf", 1, 1);
    Path second = adapter(model, "second.gguf", 0.5f, 2);
    double[][] expected = new NaiveDecoder(model).logits(TOKENS);
    try (HostEngine engine = load(file, new Source(first, 1), new Source(second, 0.5f));
        HostEngine plain = load(file)) {
      float[][] logits = inOneStep(engine, TOKENS);
      assertClose(logits, expected, 1e-3);
      assertThat(logits[0]).isNotEqualTo(inOneStep(plain, TOKENS)[0]);
      assertThat(engine.weightBytes()).isGreaterThan(plain.weightBytes());
    }
  }

  @Test
  void aRowDoesNotDependOnOthers() {
    TinyModel model = new TinyModel(Sizes.of("qwen2").withType(GgmlType.Q8_0), 7);
    Path file = model.writeGguf(folder.resolve("model.gguf"));
    Path adapter = adapter(model, "adapter.gguf", 1, 1);
    try (HostEngine engine = load(file, new Source(adapter, 1))) {
      assertThat(inOneStep(engine, TOKENS)).isDeepEqualTo(tokenByToken(engine, TOKENS));
    }
  }

  @Test
  void theFingerprintIncludesAdaptersAndScales() {
    TinyModel model = new TinyModel(Sizes.of("qwen2"), 7);
    Path file = model.writeGguf(folder.resolve("model.gguf"));
    Path adapter = adapter(model, "adapter.gguf", 1, 1);
    try (HostEngine plain = load(file);
        HostEngine whole = load(file, new Source(adapter, 1));
        HostEngine same = load(file, new Source(adapter, 1));
        HostEngine half = load(file, new Source(adapter, 0.5f))) {
      assertThat(whole.fingerprint())
          .isEqualTo(same.fingerprint())
          .hasSameSizeAs(plain.fingerprint())
          .isNotEqualTo(plain.fingerprint())
          .isNotEqualTo(half.fingerprint());
    }
  }

  /** Without alpha the scale alone is the factor. */
  @Test
  void theFingerprintIncludesScalesOfAdaptersWithoutAlpha() {
    TinyModel model = new TinyModel(Sizes.of("qwen2"), 7);
    Path file = model.writeGguf(folder.resolve("model.gguf"));
    String tensor = ADAPTED.keySet().stream().sorted().findFirst().orElseThrow();
    long[] shape = model.tensors.get(ADAPTED.get(tensor)).shape();
    float[] down = random(new Random(1), RANK * (int) shape[1]);
    float[] up = random(new Random(2), (int) shape[0] * RANK);
    Path adapter =
        new GgufWriter()
            .put("general.architecture", "qwen2")
            .put("general.type", "adapter")
            .put("adapter.type", "lora")
            .floats(tensor + ".lora_a", down, new long[] {RANK, shape[1]})
            .floats(tensor + ".lora_b", up, new long[] {shape[0], RANK})
            .writeTo(folder.resolve("plain.gguf"));
    try (HostEngine whole = load(file, new Source(adapter, 1));
        HostEngine half = load(file, new Source(adapter, 0.5f))) {
      assertThat(whole.fingerprint()).isNotEqualTo(half.fingerprint());
    }
  }

  @Test
  void whatDoesNotFitIsRefused() {
    Path model = new TinyModel(Sizes.of("qwen2"), 7).writeGguf(folder.resolve("model.gguf"));
    assertRefused(model, header("llama"), "adapts models of the family 'llama'");
    assertRefused(
        model,
        pair(header("qwen2"), "blk.9.attn_q.weight", 32, 32),
        "adapts 'blk.9.attn_q.weight', which this model does not have");
    assertRefused(
        model,
        pair(header("qwen2"), "blk.0.attn_q.weight", 32, 16),
        "adapts 'blk.0.attn_q.weight' as 32 x 16; the model's is 32 x 32");
    assertRefused(
        model,
        header("qwen2").floats("blk.0.attn_q.weight.lora_a", new float[64], new long[] {2, 32}),
        "tensor 'blk.0.attn_q.weight.lora_b' is missing");
    assertThatThrownBy(() -> load(model, new Source(model, 1)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("general.type is ''; an adapter has 'adapter'");
  }

  private static GgufWriter pair(GgufWriter writer, String name, int rows, int columns) {
    return writer
        .floats(name + ".lora_a", new float[2 * columns], new long[] {2, columns})
        .floats(name + ".lora_b", new float[rows * 2], new long[] {rows, 2});
  }

  private void assertRefused(Path model, GgufWriter writer, String message) {
    Path file = writer.writeTo(folder.resolve("refused.gguf"));
    assertThatThrownBy(() -> load(model, new Source(file, 1)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining(message);
  }
}
