package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonObject;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.GgufFile;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.model.TinyModel.Sizes;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that fused and renamed tensors are the same as separate ones. */
class FusedTensorsTest {
  private static final long SEED = 11;

  @TempDir Path folder;

  private final WorkerPool workers = new WorkerPool(1);

  @AfterEach
  void close() {
    workers.close();
  }

  @ParameterizedTest
  @EnumSource(
      value = GgmlType.class,
      names = {"F32", "F16", "Q8_0"})
  void fusedProjectionsEqualSeparateOnes(GgmlType type) {
    Sizes sizes = Sizes.of("phi3").withType(type).withHeads(4, 1, 24); // not whole row tiles
    TinyModel several = new TinyModel(sizes, SEED);
    TinyModel one = fused(new TinyModel(sizes, SEED), "blk.%d.attn_qkv", "blk.%d.ffn_up");
    assertThat(logits(gguf(one, "one"))).isEqualTo(logits(gguf(several, "several")));
  }

  @ParameterizedTest
  @EnumSource(
      value = GgmlType.class,
      names = {"F32", "Q8_0"})
  void bytesOfSlicesAreEstimated(GgmlType type) {
    Sizes sizes = Sizes.of("phi3").withType(type).withHeads(4, 1, 24);
    TinyModel model = fused(new TinyModel(sizes, SEED), "blk.%d.attn_qkv", "blk.%d.ffn_up");
    Path written = model.writeGguf(folder.resolve("tiny.gguf"));
    try (GgufFile file = GgufFile.open(written);
        HostEngine engine = gguf(model, "again")) {
      assertThat(TensorPlan.of(ModelConfig.of(file), file).loadedBytes())
          .isEqualTo(engine.weightBytes());
    }
  }

  @Test
  void foldersUseOtherNames() {
    TinyModel several = new TinyModel(Sizes.of("phi3"), SEED);
    String layer = "model.layers.%d.";
    TinyModel one =
        fused(
            new TinyModel(Sizes.of("phi3"), SEED),
            layer + "self_attn.qkv_proj",
            layer + "mlp.gate_up_proj");
    assertThat(logits(huggingFace(one, "one"))).isEqualTo(logits(huggingFace(several, "several")));
  }

  @Test
  void aFusedTensorOfAnotherShapeIsRejected() {
    TinyModel model =
        fused(new TinyModel(Sizes.of("phi3"), SEED), "blk.%d.attn_qkv", "blk.%d.ffn_up");
    TinyTensor right = model.tensors.get("blk.1.attn_qkv.weight");
    model.tensors.put("blk.1.attn_qkv.weight", right.withShape(63, 32));
    assertThatThrownBy(() -> gguf(model, "wrong"))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageEndingWith("tensor 'blk.1.attn_qkv.weight' has shape 63 x 32; expected 64 x 32");
  }

  /** Both places of the infix are in use. */
  @ParameterizedTest
  @ValueSource(strings = {"language_model.model.", "model.language_model."})
  void aMultimodalModelPrefixesItsDecoder(String prefix) {
    TinyModel plain = new TinyModel(Sizes.of("llama").withTied(), SEED);
    TinyModel model = new TinyModel(Sizes.of("llama").withTied(), SEED);
    Map<String, TinyTensor> tensors = Map.copyOf(model.tensors);
    model.tensors.clear();
    tensors.forEach(
        (name, tensor) -> model.tensors.put(prefix + name.substring("model.".length()), tensor));
    JsonObject text = model.json.deepCopy();
    model.json.keySet().stream().toList().forEach(model.json::remove);
    model.json.addProperty("model_type", "llama");
    model.json.add("text_config", text);
    assertThat(logits(huggingFace(model, "seeing"))).isEqualTo(logits(huggingFace(plain, "plain")));
  }

  /**
   * @param heads name of the fused query, key and value tensor, with a placeholder for the layer
   * @param gates name of the fused gate and up projection
   */
  private static TinyModel fused(TinyModel model, String heads, String gates) {
    for (int layer = 0; layer < model.sizes.layers(); layer++) {
      String at = "model.layers.%d.".formatted(layer);
      fuse(
          model,
          heads.formatted(layer),
          at + "self_attn.q_proj",
          at + "self_attn.k_proj",
          at + "self_attn.v_proj");
      fuse(model, gates.formatted(layer), at + "mlp.gate_proj", at + "mlp.up_proj");
    }
    return model;
  }

  private static void fuse(TinyModel model, String name, String... parts) {
    List<TinyTensor> found =
        List.of(parts).stream().map(part -> model.tensors.remove(part + ".weight")).toList();
    int rows = found.stream().mapToInt(part -> (int) part.shape()[0]).sum();
    byte[] bytes = new byte[found.stream().mapToInt(part -> part.bytes().length).sum()];
    int at = 0;
    for (TinyTensor part : found) {
      System.arraycopy(part.bytes(), 0, bytes, at, part.bytes().length);
      at += part.bytes().length;
    }
    TinyTensor first = found.getFirst();
    model.tensors.put(
        name + ".weight", new TinyTensor(first.type(), bytes, new long[] {rows, first.shape()[1]}));
  }

  private float[] logits(HostEngine engine) {
    try (engine;
        KvCache cache = engine.newCache(CacheSpec.parse("fp16"), Optional.empty(), 64)) {
      Batch batch = new Batch();
      for (int token : new int[] {3, 14, 15, 9, 2, 6}) {
        batch.add(cache, token, true);
      }
      engine.forward(batch);
      return batch.logits().clone();
    }
  }

  private HostEngine gguf(TinyModel model, String name) {
    return TinyEngine.ofGguf(model.writeGguf(folder.resolve(name + ".gguf")), workers);
  }

  private HostEngine huggingFace(TinyModel model, String name) {
    return TinyEngine.ofFolder(model.writeFolder(folder.resolve(name)), workers);
  }
}
