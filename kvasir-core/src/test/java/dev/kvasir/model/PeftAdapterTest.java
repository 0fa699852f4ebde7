package dev.kvasir.model;

import static dev.kvasir.model.Logits.assertClose;
import static dev.kvasir.model.Logits.inOneStep;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.SafetensorsWriter;
import dev.kvasir.model.LoraAdapters.Source;
import dev.kvasir.model.TinyModel.Sizes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Adapters in folders of PEFT: a model with one computes what one with merged weights does. */
class PeftAdapterTest extends FreesEngines {
  private static final int[] TOKENS = {3, 14, 15, 9, 26, 5};
  private static final String ALPHAS =
      "\"lora_alpha\": 6, \"alpha_pattern\": {\"layers.1.self_attn.o_proj\": 10, \"k_p.*\": 2}";

  /** Modules, and the scales before the division by their ranks. */
  private static final Map<String, Double> MODULES =
      new TreeMap<>(
          Map.of(
              "model.layers.0.self_attn.q_proj", 6.0,
              "model.layers.1.self_attn.q_proj", 6.0,
              "model.layers.1.self_attn.k_proj", 2.0,
              "model.layers.0.self_attn.v_proj", 6.0,
              "model.layers.0.self_attn.o_proj", 6.0,
              "model.layers.1.self_attn.o_proj", 10.0,
              "model.layers.0.mlp.gate_proj", 6.0,
              "model.layers.1.mlp.up_proj", 6.0,
              "model.layers.1.mlp.down_proj", 6.0,
              "lm_head", 6.0));

  private HostEngine load(Path model, Source... sources) {
    return TinyEngine.withAdapters(model, LoraAdapters.read(List.of(sources)), workers);
  }

  private Path config(String name, String members) throws IOException {
    Path adapter = Files.createDirectories(folder.resolve(name));
    Files.writeString(
        adapter.resolve("adapter_config.json"),
        "{\"peft_type\": \"LORA\", \"r\": 4, \"bias\": \"none\", %s}".formatted(members));
    return adapter;
  }

  /** Writes an adapter whose ranks differ, and adds its products to the weights of the model. */
  private Path adapter(TinyModel model, boolean isStabilized, float scale) throws IOException {
    Path adapter = config("adapter", ALPHAS + ", \"use_rslora\": " + isStabilized);
    Random random = new Random(3);
    SafetensorsWriter writer = new SafetensorsWriter();
    int rank = 2;
    for (Map.Entry<String, Double> module : MODULES.entrySet()) {
      TinyTensor weights = model.tensors.get(module.getKey() + ".weight");
      int rows = (int) weights.shape()[0];
      int columns = (int) weights.shape()[1];
      float[] down = random(random, rank * columns);
      float[] up = random(random, rows * rank);
      write(writer, module.getKey(), "lora_A", down, rank, columns);
      write(writer, module.getKey(), "lora_B", up, rows, rank);
      double factor = scale * module.getValue() / (isStabilized ? Math.sqrt(rank) : rank);
      merge(model, module.getKey() + ".weight", down, up, rank, factor);
      rank = 2 + rank % 3;
    }
    writer.writeTo(adapter.resolve("adapter_model.safetensors"));
    return adapter;
  }

  private static void write(
      SafetensorsWriter writer, String module, String which, float[] values, long... shape) {
    writer.tensor(
        "base_model.model.%s.%s.weight".formatted(module, which),
        "F32",
        TinyTensor.ofFloats(values).bytes(),
        shape);
  }

  private static void merge(
      TinyModel model, String tensor, float[] down, float[] up, int rank, double factor) {
    TinyTensor weights = model.tensors.get(tensor);
    int columns = (int) weights.shape()[1];
    float[] merged = weights.floats();
    for (int i = 0; i < merged.length; i++) {
      double sum = 0;
      for (int r = 0; r < rank; r++) {
        sum += (double) up[i / columns * rank + r] * down[r * columns + i % columns];
      }
      merged[i] += (float) (factor * sum);
    }
    model.tensors.put(
        tensor,
        new TinyTensor(weights.type(), TinyTensor.ofFloats(merged).bytes(), weights.shape()));
  }

  private static float[] random(Random random, int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) (0.1 * random.nextGaussian());
    }
    return values;
  }

  /** GGUF files of some families have the rows of queries and keys in another order. */
  @ParameterizedTest
  @CsvSource({"llama, false", "llama, true", "qwen2, false", "mistral, true", "qwen3, true"})
  void logitsAreThoseOfMergedWeights(String family, boolean isStabilized) throws IOException {
    TinyModel model = new TinyModel(Sizes.of(family), 7);
    Path gguf = model.writeGguf(folder.resolve("model.gguf"));
    Path huggingFace = model.writeFolder(folder.resolve("model"));
    Path adapter = adapter(model, isStabilized, 0.5f);
    double[][] expected = new NaiveDecoder(model).logits(TOKENS);
    for (Path file : List.of(gguf, huggingFace)) {
      try (HostEngine engine = load(file, new Source(adapter, 0.5f));
          HostEngine plain = load(file)) {
        float[][] logits = inOneStep(engine, TOKENS);
        assertClose(logits, expected, 1e-3);
        assertThat(logits[0]).isNotEqualTo(inOneStep(plain, TOKENS)[0]);
      }
    }
  }

  @Test
  void theFingerprintIncludesScales() throws IOException {
    TinyModel model = new TinyModel(Sizes.of("llama"), 7);
    Path huggingFace = model.writeFolder(folder.resolve("model"));
    Path adapter = adapter(model, false, 1);
    try (HostEngine plain = load(huggingFace);
        HostEngine whole = load(huggingFace, new Source(adapter, 1));
        HostEngine same = load(huggingFace, new Source(adapter, 1));
        HostEngine half = load(huggingFace, new Source(adapter, 0.5f))) {
      assertThat(whole.fingerprint())
          .isEqualTo(same.fingerprint())
          .isNotEqualTo(plain.fingerprint())
          .isNotEqualTo(half.fingerprint());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"use_dora\": true",
        "\"modules_to_save\": [\"lm_head\"]",
        "\"trainable_token_indices\": [7]",
        "\"target_parameters\": [\"mlp.experts.gate_up_proj\"]",
        "\"layer_replication\": [[0, 2]]",
        "\"lora_bias\": true",
        "\"fan_in_fan_out\": true"
      })
  void optionsThatChangeTheResultAreRefused(String option) throws IOException {
    Path adapter = config("refused", "\"lora_alpha\": 4, " + option);
    String[] parts = option.replace("\"", "").split(": ");
    assertRefused(adapter, "adapter_config.json: %s is ".formatted(parts[0]));
  }

  @Test
  void configurationsThatAreWrongAreRefused() throws IOException {
    assertRefused(
        config("none", "\"lora_dropout\": 0"), "lora_alpha is missing; expected a finite number");
    Path other = config("type", "\"lora_alpha\": 4");
    Files.writeString(other.resolve("adapter_config.json"), "{\"peft_type\": \"IA3\"}");
    assertRefused(other, "peft_type is 'IA3'; expected LORA");
    assertRefused(
        config("pattern", "\"lora_alpha\": 4, \"alpha_pattern\": {\"(\": 1}"),
        "alpha_pattern has '('; expected a regular expression");
    assertRefused(
        config("pissa", "\"lora_alpha\": 4, \"init_lora_weights\": \"pissa_niter_4\""),
        "init_lora_weights is \"pissa_niter_4\", which changes the model's weights too");
    assertRefused(
        config("weights", "\"lora_alpha\": 4"),
        "has no adapter_model.safetensors; expected a GGUF file, or a folder of PEFT");
  }

  @Test
  void tensorsThatDoNotFitAreRefused() throws IOException {
    assertTensorRefused(
        "base_model.model.model.embed_tokens.lora_embedding_A", 4, 50, "is not supported");
    assertTensorRefused("base_model.model.lm_head.weight", 50, 32, "is not supported");
    assertTensorRefused(
        "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight",
        4,
        32,
        "lora_B of 'model.layers.0.self_attn.q_proj' is missing");
    assertModuleRefused(
        "model.layers.9.self_attn.q_proj", 32, "adapts 'model.layers.9.self_attn.q_proj', which");
    assertModuleRefused("model.embed_tokens", 50, "adapts 'model.embed_tokens', which");
    assertModuleRefused(
        "model.layers.0.self_attn.q_proj", 16, "as 16 x 32; the model's is 32 x 32");
  }

  private void assertTensorRefused(String tensor, int rows, int columns, String message)
      throws IOException {
    SafetensorsWriter writer = new SafetensorsWriter();
    byte[] values = TinyTensor.ofFloats(new float[rows * columns]).bytes();
    writer.tensor(tensor, "F32", values, rows, columns);
    assertRefused(writer, message);
  }

  private void assertModuleRefused(String module, int rows, String message) throws IOException {
    SafetensorsWriter writer = new SafetensorsWriter();
    write(writer, module, "lora_A", new float[4 * 32], 4, 32);
    write(writer, module, "lora_B", new float[rows * 4], rows, 4);
    assertRefused(writer, message);
  }

  private void assertRefused(SafetensorsWriter writer, String message) throws IOException {
    Path adapter = config("refused", "\"lora_alpha\": 4");
    writer.writeTo(adapter.resolve("adapter_model.safetensors"));
    assertRefused(adapter, message);
  }

  private void assertRefused(Path adapter, String message) {
    TinyModel model = new TinyModel(Sizes.of("llama"), 7);
    for (Path file :
        List.of(
            model.writeGguf(folder.resolve("model.gguf")),
            model.writeFolder(folder.resolve("model")))) {
      assertThatThrownBy(() -> load(file, new Source(adapter, 1)))
          .isInstanceOf(InvalidInputException.class)
          .hasMessageContaining(message);
    }
  }
}
