package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.GgufValue;
import dev.kvasir.format.Mappings;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.TinyModel.Sizes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that unsupported models are rejected with one sentence and leave nothing open. */
class RefusedModelTest {
  private static final long SEED = 43;

  @TempDir Path folder;

  private final WorkerPool workers = new WorkerPool(1);

  @AfterEach
  void close() {
    workers.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"llama", "qwen2", "qwen3"})
  void aMissingTensorIsNamed(String architecture) throws IOException {
    for (String name : tensorsOf(architecture)) {
      if (name.equals("lm_head.weight")) {
        continue; // the embedding replaces it
      }
      TinyModel model = new TinyModel(Sizes.of(architecture), SEED);
      model.tensors.remove(name);
      String embedding = "token_embd.weight";
      String ggufName = TinyModel.ggufName(name);
      assertThat(refusalOfGguf(model))
          .startsWith(
              ggufName.equals(embedding)
                  ? "holds no weights; tensor 'token_embd.weight' was expected"
                  : "tensor '%s' is missing; a tensor of shape ".formatted(ggufName));
      assertThat(refusalOfFolder(model))
          .startsWith("tensor '%s' is missing; a tensor of shape ".formatted(name));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"llama", "qwen2", "qwen3"})
  void aTensorOfTheWrongShapeIsNamed(String architecture) throws IOException {
    for (String name : tensorsOf(architecture)) {
      TinyModel model = new TinyModel(Sizes.of(architecture), SEED);
      TinyTensor right = model.tensors.get(name);
      long[] shape = right.shape().clone();
      shape[shape.length - 1] += 32;
      model.tensors.put(name, right.withShape(shape));
      assertThat(refusalOfFolder(model)).startsWith("tensor '%s' has shape ".formatted(name));
      if (shape.length == 2) {
        // Transposed; the same number of values.
        model.tensors.put(name, right.withShape(right.shape()[1], right.shape()[0], 1));
        assertThat(refusalOfFolder(model)).startsWith("tensor '%s' has shape ".formatted(name));
        assertThat(refusalOfGguf(model))
            .startsWith("tensor '%s' has shape ".formatted(TinyModel.ggufName(name)));
      }
    }
  }

  @Test
  void anUntiedOutputMustBePresent() throws IOException {
    TinyModel model = tiny();
    model.tensors.remove("lm_head.weight");
    model.json.addProperty("tie_word_embeddings", false);
    assertThat(refusalOfFolder(model)).startsWith("tensor 'lm_head.weight' is missing");
  }

  private static List<String> tensorsOf(String architecture) {
    return List.copyOf(new TinyModel(Sizes.of(architecture), SEED).tensors.keySet());
  }

  @Test
  void anUnknownArchitectureIsNamedWithTheSupportedOnes() throws IOException {
    TinyModel model = new TinyModel(Sizes.of("mamba"), SEED);
    String known =
        Arrays.stream(Architecture.values())
            .map(Architecture::identifier)
            .collect(Collectors.joining(", "));
    String sentence = "the architecture is 'mamba'; supported are " + known;
    assertThat(refusalOfGguf(model)).isEqualTo(sentence);
    assertThat(refusalOfConfig(model)).isEqualTo(sentence);
    model.json.remove("model_type");
    assertThat(refusalOfConfig(model)).isEqualTo("'model_type' is missing; expected a string");
  }

  @Test
  void aMixtureOfExpertsInADenseFamilyIsRejected() throws IOException {
    TinyModel model = new TinyModel(Sizes.of("qwen3"), SEED);
    model.say("expert_count", 8);
    model.say("expert_used_count", 2);
    assertThat(refusalOfGguf(model))
        .isEqualTo("is a mixture of experts; of qwen3 models only dense ones are supported");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "block_count             | num_hidden_layers       | layers",
        "embedding_length        | hidden_size             | hidden size",
        "feed_forward_length     | intermediate_size       | feed-forward size",
        "attention.head_count    | num_attention_heads     | query heads",
        "attention.head_count_kv | num_key_value_heads     | KV heads",
        "context_length          | max_position_embeddings | context length"
      })
  void sizesOfZeroAreRejected(String ggufKey, String jsonKey, String what) throws IOException {
    TinyModel model = tiny();
    model.say(ggufKey, 0);
    model.json.addProperty(jsonKey, 0);
    String sentence = what + " is 0; expected at least 1";
    assertThat(refusalOfGguf(model)).isEqualTo(sentence);
    assertThat(refusalOfConfig(model)).isEqualTo(sentence);
  }

  @Test
  void headsOfSizeZeroAreRejected() throws IOException {
    TinyModel model = tiny();
    model.say("attention.key_length", 0);
    model.say("attention.value_length", 0);
    model.json.addProperty("head_dim", 0);
    assertThat(refusalOfGguf(model)).isEqualTo("head size is 0; expected at least 1");
    assertThat(refusalOfConfig(model)).isEqualTo("head size is 0; expected at least 1");
  }

  /** Products of sizes that overflow to small numbers. */
  @Test
  void overflowingHeadSizesAreRejected() throws IOException {
    TinyModel model = tiny();
    model.say("attention.head_count", 1 << 16);
    model.say("attention.key_length", 1 << 16);
    model.say("attention.value_length", 1 << 16);
    model.json.addProperty("num_attention_heads", 1 << 16);
    model.json.addProperty("head_dim", 1 << 16);
    String sentence = "has 65536 query heads of 65536 channels; expected at most 2147483647 in all";
    assertThat(refusalOfGguf(model)).isEqualTo(sentence);
    assertThat(refusalOfConfig(model)).isEqualTo(sentence);
  }

  /** Arrays of these sizes would overflow, though the sizes fit an int. */
  @ParameterizedTest
  @CsvSource({"embedding_length, hidden_size", "feed_forward_length, intermediate_size"})
  void vectorsWiderThanAPageAreRejected(String ggufKey, String jsonKey) throws IOException {
    TinyModel model = tiny();
    model.say(ggufKey, 1 << 24);
    model.json.addProperty(jsonKey, 1 << 24);
    String sentence = "has vectors of 16777216 channels; expected at most 16777215";
    assertThat(refusalOfGguf(model)).isEqualTo(sentence);
    assertThat(refusalOfConfig(model)).isEqualTo(sentence);
  }

  @Test
  void tooManyHeadsAreRejected() throws IOException {
    TinyModel model = tiny();
    model.say("block_count", 1 << 22);
    model.json.addProperty("num_hidden_layers", 1 << 22);
    String sentence = "has 8388608 KV heads in all layers; expected at most 8388607";
    assertThat(refusalOfGguf(model)).isEqualTo(sentence);
    assertThat(refusalOfConfig(model)).isEqualTo(sentence);
  }

  @Test
  void headsThatDoNotDivideEvenlyAreRejected() throws IOException {
    TinyModel model = tiny();
    model.say("attention.head_count_kv", 3);
    model.json.addProperty("num_key_value_heads", 3);
    String sentence = "has 4 query heads; expected a multiple of its 3 KV heads";
    assertThat(refusalOfGguf(model)).isEqualTo(sentence);
    assertThat(refusalOfConfig(model)).isEqualTo(sentence);
  }

  @Test
  void valueHeadsOfSizeZeroAreRejected() throws IOException {
    TinyModel model = tiny();
    model.say("attention.value_length", 0);
    assertThat(refusalOfGguf(model)).isEqualTo("value head size is 0; expected at least 1");
  }

  @Test
  void valueHeadSizesThatContradictTensorsAreRejected() throws IOException {
    TinyModel model = tiny();
    model.say("attention.value_length", 16);
    assertThat(refusalOfGguf(model)).contains("attn_v").contains("16 x 32").contains("32 x 32");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7, 10})
  void invalidRotaryChannelsAreRejected(int dimensions) throws IOException {
    TinyModel model = tiny();
    model.say("rope.dimension_count", dimensions);
    model.json.addProperty("partial_rotary_factor", dimensions / 8.0);
    String sentence =
        "rotates %d channels of a head; expected an even number up to 8".formatted(dimensions);
    assertThat(refusalOfGguf(model)).isEqualTo(sentence);
    assertThat(refusalOfConfig(model)).isEqualTo(sentence);
  }

  @Test
  void anotherActivationIsRejected() throws IOException {
    TinyModel model = tiny();
    model.json.addProperty("hidden_act", "gelu");
    assertThat(refusalOfConfig(model)).isEqualTo("'hidden_act' is 'gelu'; only silu is supported");
  }

  @Test
  void anUnsupportedRopeScalingIsRejected() throws IOException {
    TinyModel model = tiny();
    model.say("rope.scaling.type", GgufValue.string("su"));
    assertThat(refusalOfGguf(model))
        .isEqualTo(
            "rope scaling is 'su'; supported are none, linear, yarn, longrope and Llama 3.1's");
    JsonObject scaling = new JsonObject();
    scaling.addProperty("rope_type", "stretched");
    model.json.add("rope_scaling", scaling);
    assertThat(refusalOfFolder(model, "config.json 'rope_scaling'"))
        .isEqualTo(
            "rope scaling is 'stretched'; supported are default, dynamic, linear, llama3, yarn and"
                + " longrope");
  }

  @Test
  void aRopeScalingWithoutParametersIsRejected() throws IOException {
    TinyModel model = tiny();
    JsonObject scaling = new JsonObject();
    scaling.addProperty("rope_type", "llama3");
    model.json.add("rope_scaling", scaling);
    List<String> keys =
        List.of(
            "factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings");
    for (int i = 0; i < keys.size(); i++) {
      assertThat(refusalOfFolder(model, "config.json 'rope_scaling'"))
          .isEqualTo("'%s' is missing; expected a number", keys.get(i));
      scaling.addProperty(keys.get(i), i + 1);
    }
  }

  @Test
  void aNonPositiveRopeScalingIsRejected() throws IOException {
    TinyModel model = tiny();
    model.say("rope.scaling.type", GgufValue.string("linear"));
    model.say("rope.scaling.factor", GgufValue.float32(-2));
    assertThat(refusalOfGguf(model))
        .isEqualTo("the rope scaling has a factor of -2.0; expected more than 0");
    model.ropeDivisors = new double[] {1, 1, 0, 1};
    assertThat(refusalOfGguf(model))
        .isEqualTo("the rope scaling has a factor of 0.0; expected more than 0");
    JsonObject scaling = new JsonObject();
    scaling.addProperty("type", "linear");
    scaling.addProperty("factor", 0);
    model.json.add("rope_scaling", scaling);
    assertThat(refusalOfConfig(model))
        .isEqualTo("the rope scaling has a factor of 0.0; expected more than 0");
  }

  @Test
  void divisorsForAnotherPairCountAreRejected() throws IOException {
    TinyModel model = tiny();
    model.ropeDivisors = new double[] {1, 1, 1};
    assertThat(refusalOfGguf(model))
        .isEqualTo("tensor 'rope_freqs.weight' has shape 3; expected 4");
  }

  @Test
  void aNonPositiveRopeBaseOrEpsilonIsRejected() throws IOException {
    TinyModel model = tiny();
    model.say("rope.freq_base", GgufValue.float32(0));
    model.json.addProperty("rope_theta", 0);
    assertThat(refusalOfGguf(model)).isEqualTo("the rope base is 0.0; expected more than 0");
    assertThat(refusalOfConfig(model)).isEqualTo("the rope base is 0.0; expected more than 0");
    model = tiny();
    model.say("attention.layer_norm_rms_epsilon", GgufValue.float32(-1));
    model.json.addProperty("rms_norm_eps", -1);
    String sentence = "the norm's epsilon is -1.0; expected more than 0";
    assertThat(refusalOfGguf(model)).isEqualTo(sentence);
    assertThat(refusalOfConfig(model)).isEqualTo(sentence);
  }

  @Test
  void layerTypesForAnotherLayerCountAreRejected() throws IOException {
    TinyModel model = new TinyModel(Sizes.of("mistral"), SEED);
    model.json.addProperty("sliding_window", 4);
    JsonArray types = new JsonArray();
    types.add("sliding_attention");
    model.json.add("layer_types", types);
    assertThat(refusalOfConfig(model)).isEqualTo("'layer_types' has 1 entries; expected 2");
  }

  @ParameterizedTest
  @CsvSource({"Q8_0, 0, scale", "Q4_1, 0, scale", "Q4_1, 2, minimum"})
  void aBlockWithoutAFiniteScaleIsRejected(GgmlType type, int at, String what) throws IOException {
    TinyModel model = tiny();
    String name = "model.layers.1.mlp.up_proj.weight";
    TinyTensor zeros = model.tensors.get(name);
    byte[] blocks = new byte[(int) type.bytesFor(64 * 32)];
    int lastBlock = blocks.length - type.blockBytes();
    ByteBuffer.wrap(blocks).order(ByteOrder.LITTLE_ENDIAN).putShort(lastBlock + at, (short) 0x7C00);
    model.tensors.put(name, new TinyTensor(type, blocks, zeros.shape()));
    assertThat(refusalOfGguf(model))
        .isEqualTo(
            "tensor 'blk.1.ffn_up.weight' has a %s of Infinity; expected a finite number", what);
  }

  @Test
  void aMissingOrMisshapenTensorOfLatentsIsNamed() throws IOException {
    LatentConfig latent = new LatentConfig(24, 8, 12, 10, 20, TinyModel.EPSILON);
    for (String name : latent(latent).tensors.keySet()) {
      if (name.contains("self_attn")) {
        TinyModel model = latent(latent);
        TinyTensor right = model.tensors.remove(name);
        String ggufName = TinyModel.ggufName(name);
        assertThat(refusalOfGguf(model)).startsWith("tensor '%s' is missing".formatted(ggufName));
        long[] shape = right.shape().clone();
        shape[0]++;
        model.tensors.put(name, right.withShape(shape));
        assertThat(refusalOfGguf(model)).startsWith("tensor '%s' has shape ".formatted(ggufName));
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "attention.kv_lora_rank | 0 | the rank of keys and values is 0; expected at least 1",
        "rope.dimension_count | 20 | the number of non-rotary channels of a head is 0; expected at"
            + " least 1",
        "rope.dimension_count | 7 | rotates 7 channels of a head; expected an even number up to 31",
        "attention.value_length_mla | 0 | the number of output channels of a head is 0; expected at"
            + " least 1",
        "attention.kv_lora_rank | 2147483647 | has latents of 2147483647 channels and heads of 20"
            + " and 10; expected at most 2147483647 weights a head",
        "nextn_predict_layers | 2 | layers is 0; expected at least 1",
        "attention.temperature_scale | 1 | scales its queries by their positions; that is not"
            + " supported"
      })
  void invalidLatentSizesAreRejected(String key, int value, String sentence) throws IOException {
    TinyModel model = latent(TinyLatent.SMALL);
    model.say(key, value);
    assertThat(refusalOfGguf(model)).isEqualTo(sentence);
  }

  private static TinyModel latent(LatentConfig sizes) {
    return TinyLatent.split(TinyLatent.sizes(4), sizes, SEED);
  }

  @Test
  void aWeightOutsideHalfPrecisionCannotBeTransposed() throws IOException {
    Sizes sizes = TinyLatent.sizes(4).withType(GgmlType.Q8_0).withHeads(4, 1, 8);
    TinyModel model = TinyLatent.trained(sizes, TinyLatent.CODED, SEED);
    String name = "model.layers.1.self_attn.kv_b_proj.weight";
    byte[] blocks = model.tensors.get(name).bytes().clone();
    ByteBuffer.wrap(blocks).order(ByteOrder.LITTLE_ENDIAN).putShort(0, (short) 0x7BFF);
    blocks[2] = 100;
    model.tensors.put(name, new TinyTensor(GgmlType.Q8_0, blocks, model.tensors.get(name).shape()));
    assertThat(refusalOfGguf(model))
        .startsWith("tensor 'blk.1.attn_kv_b.weight' has a weight of ")
        .endsWith("; expected at most 65504 for half precision");
  }

  private static TinyModel tiny() {
    return new TinyModel(Sizes.of("llama"), SEED);
  }

  private String refusalOfGguf(TinyModel model) throws IOException {
    Path file = model.writeGguf(folder.resolve("tiny.gguf"));
    return refusal(
        file.toString(),
        file,
        () ->
            HostEngine.load(
                GgufFile.open(file),
                new ScalarKernels(),
                workers,
                MemoryPool.unlimited(),
                (done, inAll) -> {}));
  }

  /** Returns the message about config.json. */
  private String refusalOfConfig(TinyModel model) throws IOException {
    return refusalOfFolder(model, "config.json");
  }

  private String refusalOfFolder(TinyModel model, String... place) throws IOException {
    Path written = model.writeFolder(folder.resolve("tiny"));
    String name =
        Arrays.stream(place).map(at -> written + "/" + at).findFirst().orElse(written.toString());
    return refusal(
        name,
        written.resolve("model.safetensors"),
        () ->
            HostEngine.load(
                written,
                new ScalarKernels(),
                workers,
                MemoryPool.unlimited(),
                (done, inAll) -> {}));
  }

  private static String refusal(String name, Path file, Runnable load) throws IOException {
    long arenas = CountedArena.liveArenas();
    Throwable thrown = catchThrowable(load::run);
    assertThat(thrown).isInstanceOf(InvalidInputException.class);
    assertThat(thrown.getMessage()).startsWith(name + ": ").doesNotContain("\n");
    assertThat(CountedArena.liveArenas()).isEqualTo(arenas);
    assertThat(Mappings.hold(file)).isFalse();
    return thrown.getMessage().substring(name.length() + 2);
  }
}
