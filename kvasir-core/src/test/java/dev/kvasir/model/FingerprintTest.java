package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.GgufValue;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.TinyModel.Sizes;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that models with the same weights but other RoPE settings have other fingerprints, since
 * profiles depend on them.
 */
class FingerprintTest {
  @TempDir Path folder;

  private final WorkerPool workers = new WorkerPool(1);

  @AfterEach
  void close() {
    workers.close();
  }

  /** Profiles are bound to the fingerprint, so it must not change. */
  @Test
  void unscaledRopeKeepsTheFingerprint() {
    String plain = ofGguf(tiny());
    assertThat(plain).isEqualTo("aeb6d4f3454f3249a2042d1cd166c3bf");
    for (float factor : new float[] {0, 1}) {
      TinyModel model = tiny();
      model.say("rope.scaling.type", GgufValue.string("linear"));
      model.say("rope.scaling.factor", GgufValue.float32(factor));
      assertThat(ofGguf(model)).isEqualTo(plain);
    }
    assertThat(ofFolder(tiny())).isEqualTo("ffb0ed3632c8f42e9938ccc5e5764cef");
  }

  /** The same tensors may be few wide heads or many narrow ones. */
  @Test
  void otherHeadSizesChangeTheFingerprint() {
    TinyModel many = new TinyModel(Sizes.of("llama").withHeads(4, 2, 8, 4), 1);
    TinyModel few = new TinyModel(Sizes.of("llama").withHeads(4, 2, 8, 4), 1);
    few.say("attention.head_count", 2);
    few.say("attention.head_count_kv", 1);
    few.say("attention.key_length", 16);
    few.say("attention.value_length", 8);
    assertThat(ofGguf(few)).isNotEqualTo(ofGguf(many));
  }

  /** Tensor shapes state the sizes of latents, but not the query scale. */
  @Test
  void otherLatentQueryScalesChangeTheFingerprint() {
    Set<String> names = new HashSet<>();
    for (float multiplier : new float[] {0, 0.05f, 0.1f}) {
      TinyModel model = TinyLatent.trained(TinyLatent.sizes(4), TinyLatent.SMALL, 1);
      model.say("rope.scaling.type", GgufValue.string("yarn"));
      model.say("rope.scaling.factor", GgufValue.float32(4));
      model.say("rope.scaling.yarn_log_multiplier", GgufValue.float32(multiplier));
      names.add(ofGguf(model));
    }
    assertThat(names).hasSize(3);
  }

  @Test
  void otherRopeScalingChangesTheFingerprint() {
    Set<String> names = new HashSet<>();
    names.add(ofGguf(tiny()));
    for (float factor : new float[] {2, 4}) {
      TinyModel model = tiny();
      model.say("rope.scaling.type", GgufValue.string("linear"));
      model.say("rope.scaling.factor", GgufValue.float32(factor));
      names.add(ofGguf(model));
    }
    assertThat(names).hasSize(3);
    names.clear();
    names.add(ofFolder(tiny()));
    for (int factor : new int[] {2, 8}) {
      TinyModel model = tiny();
      JsonObject scaling = new JsonObject();
      scaling.addProperty("rope_type", "llama3");
      scaling.addProperty("factor", factor);
      scaling.addProperty("low_freq_factor", 1);
      scaling.addProperty("high_freq_factor", 4);
      scaling.addProperty("original_max_position_embeddings", 64);
      model.json.add("rope_scaling", scaling);
      names.add(ofFolder(model));
    }
    assertThat(names).hasSize(3);
  }

  @Test
  void otherRoutingChangesTheFingerprint() {
    Set<String> names = new HashSet<>();
    for (int used = 1; used <= 3; used++) {
      TinyModel model = new TinyModel(Sizes.of("qwen3moe"), 43);
      model.say("expert_used_count", used);
      names.add(ofGguf(model));
    }
    assertThat(names).hasSize(3);
    names.clear();
    for (boolean normalized : new boolean[] {false, true}) {
      TinyModel model = new TinyModel(Sizes.of("qwen3moe"), 43);
      model.json.addProperty("norm_topk_prob", normalized);
      names.add(ofFolder(model));
    }
    assertThat(names).hasSize(2);
  }

  /** A file may state other factors, or other layers with RoPE, for the same tensors. */
  @Test
  void otherScalesAndMagnitudesChangeTheFingerprint() {
    Set<String> names = new HashSet<>();
    for (float scale : new float[] {1, 2, 4}) {
      TinyModel model = new TinyModel(Sizes.of("granite"), 43);
      model.say("embedding_scale", GgufValue.float32(scale));
      names.add(ofGguf(model));
    }
    for (float factor : new float[] {0.5f, 2}) {
      TinyModel model = new TinyModel(Sizes.of("granite"), 43);
      model.say("rope.scaling.attn_factor", GgufValue.float32(factor));
      names.add(ofGguf(model));
    }
    TinyModel still = new TinyModel(Sizes.of("granite"), 43);
    still.say("rope.scaling.finetuned", GgufValue.bool(false));
    names.add(ofGguf(still));
    assertThat(names).hasSize(6);
  }

  private static TinyModel tiny() {
    return new TinyModel(Sizes.of("llama"), 43);
  }

  private String ofGguf(TinyModel model) {
    GgufFile file = GgufFile.open(model.writeGguf(folder.resolve("tiny.gguf")));
    try (HostEngine decoder =
        HostEngine.load(
            file, new ScalarKernels(), workers, MemoryPool.unlimited(), (done, inAll) -> {})) {
      return decoder.fingerprint();
    }
  }

  private String ofFolder(TinyModel model) {
    Path written = model.writeFolder(folder.resolve("tiny"));
    try (HostEngine decoder =
        HostEngine.load(
            written, new ScalarKernels(), workers, MemoryPool.unlimited(), (done, inAll) -> {})) {
      return decoder.fingerprint();
    }
  }
}
