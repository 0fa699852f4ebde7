package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.google.gson.JsonArray;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.model.Routing.Groups;
import dev.kvasir.model.Routing.Score;
import dev.kvasir.model.TinyModel.Sizes;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that unsupported mixtures are rejected with one sentence and leave nothing open. */
class RefusedExpertsTest {
  @TempDir Path folder;

  private final WorkerPool workers = new WorkerPool(1);
  private final long arenasBefore = CountedArena.liveArenas();

  @AfterEach
  void close() {
    workers.close();
    assertThat(CountedArena.liveArenas()).isEqualTo(arenasBefore);
  }

  @ParameterizedTest
  @ValueSource(strings = {"qwen2moe", "qwen3moe"})
  void aMissingTensorIsNamed(String family) {
    List<String> names =
        tiny(family).tensors.keySet().stream().filter(name -> name.contains("mlp.")).toList();
    for (String name : names) {
      TinyModel model = tiny(family);
      model.tensors.remove(name);
      assertThat(ofFolder(model))
          .startsWith("tensor '%s' is missing; a tensor of shape ".formatted(name));
      if (!name.contains("experts.") || name.contains("experts.0.")) {
        assertThat(ofGguf(model))
            .startsWith(
                "tensor '%s' is missing; a tensor of shape ".formatted(TinyModel.ggufName(name)));
      }
    }
  }

  @Test
  void fewerExpertsThanStatedAreRejected() {
    TinyModel model = tiny("qwen3moe");
    model.say("expert_count", 7);
    model.json.addProperty("num_experts", 7);
    String shape = "has shape 6 x 32; expected 7 x 32";
    assertThat(ofGguf(model)).isEqualTo("tensor 'blk.0.ffn_gate_inp.weight' " + shape);
    assertThat(ofFolder(model)).isEqualTo("tensor 'model.layers.0.mlp.gate.weight' " + shape);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "expert_count | num_experts | 0 | the number of experts is 0; expected 1 to 1024",
        "expert_count | num_experts | 1025 | the number of experts is 1025; expected 1 to 1024",
        "expert_used_count | num_experts_per_tok | 0 | the number of experts a token uses is 0;"
            + " expected 1 to 6",
        "expert_used_count | num_experts_per_tok | 7 | the number of experts a token uses is 7;"
            + " expected 1 to 6",
        "expert_feed_forward_length | moe_intermediate_size | 0 | the feed-forward size of an"
            + " expert is 0; expected 1 to 2147483647",
        "expert_feed_forward_length | moe_intermediate_size | 2000000000 | has vectors of"
            + " 6000000000 channels; expected at most 16777215"
      })
  void invalidSizesAreRejected(String key, String property, int value, String sentence) {
    TinyModel model = tiny("qwen2moe");
    model.say(key, value);
    model.json.addProperty(property, value);
    assertThat(ofGguf(model)).isEqualTo(sentence);
    assertThat(ofFolder(model)).isEqualTo(sentence);
  }

  @Test
  void aMixtureWithoutSizesIsRejected() {
    TinyModel model = tiny("qwen3moe");
    model.metadata.remove("qwen3moe.expert_used_count");
    model.json.remove("num_experts_per_tok");
    assertThat(ofGguf(model)).startsWith("'qwen3moe.expert_used_count' is missing");
    assertThat(ofFolder(model)).startsWith("'num_experts_per_tok' is missing");
  }

  @Test
  void denseLayersBetweenOthersAreRejected() {
    TinyModel model = tiny("qwen3moe");
    model.json.addProperty("decoder_sparse_step", 2);
    assertThat(ofFolder(model)).isEqualTo("'decoder_sparse_step' is 2; only 1 is supported");
    model.json.remove("decoder_sparse_step");
    JsonArray layers = new JsonArray();
    layers.add(1);
    model.json.add("mlp_only_layers", layers);
    assertThat(ofFolder(model))
        .isEqualTo(
            "'mlp_only_layers' names layers without experts; only mixtures in all layers are"
                + " supported");
  }

  /** The names of all of them would take more memory than the file has bytes. */
  @Test
  void aMillionMissingLayersAreRejectedAtOnce() {
    TinyModel model = tiny("qwen3moe");
    model.say("block_count", 1_000_000);
    model.json.addProperty("num_hidden_layers", 1_000_000);
    assertThat(ofGguf(model)).startsWith("tensor 'blk.2.attn_norm.weight' is missing");
    assertThat(ofFolder(model)).contains("model.layers.2.").contains(" is missing");
  }

  @Test
  void groupsMustContainTheSelectedExperts() {
    assertThat(routing(new Groups(5, 2, 2)))
        .isEqualTo("x: has 5 groups of experts; expected a divisor of its 8 experts");
    assertThat(routing(new Groups(4, 5, 2)))
        .isEqualTo("x: uses 5 groups of experts; expected 1 to 4");
    assertThat(routing(new Groups(4, 1, 2)))
        .isEqualTo("x: uses 4 experts; expected at most the 2 of the groups that it uses");
  }

  private static String routing(Groups groups) {
    Routing routing = new Routing(Score.SIGMOID, groups, true, 1);
    return catchThrowable(() -> routing.check("x", 8, 4)).getMessage();
  }

  @Test
  void denseOnlyCallersRejectExperts() {
    try (HostEngine engine = load(tiny("qwen3moe"))) {
      assertThat(catchThrowable(() -> engine.config().requirePlain("calibration")))
          .isInstanceOf(InvalidInputException.class)
          .hasMessageEndingWith(
              "calibration requires dense feed-forward layers; this is a mixture of 6 experts");
      assertThat(catchThrowable(() -> engine.weights().layers().getFirst().gated()))
          .isInstanceOf(InvalidInputException.class)
          .hasMessage("this layer is a mixture of experts; expected a gated feed-forward layer");
    }
  }

  private static TinyModel tiny(String family) {
    return new TinyModel(Sizes.of(family), 43);
  }

  private HostEngine load(TinyModel model) {
    return TinyEngine.ofGguf(model.writeGguf(folder.resolve("tiny.gguf")), workers);
  }

  private String ofGguf(TinyModel model) {
    return sentence(catchThrowable(() -> load(model).close()));
  }

  private String ofFolder(TinyModel model) {
    Path written = model.writeFolder(folder.resolve("tiny"));
    return sentence(catchThrowable(() -> TinyEngine.ofFolder(written, workers).close()));
  }

  /** Returns the message without the file name. */
  private static String sentence(Throwable thrown) {
    assertThat(thrown).isInstanceOf(InvalidInputException.class);
    return thrown.getMessage().substring(thrown.getMessage().indexOf(": ") + 2);
  }
}
