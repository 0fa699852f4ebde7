package dev.kvasir.cuda.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cuda.driver.NeedsDevice;
import dev.kvasir.cuda.kernels.FileWeightSource;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.SafetensorsFolder;
import dev.kvasir.format.Tensor;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.DecoderEngine;
import dev.kvasir.model.HostEngine;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.runtime.BundledFiles;
import dev.kvasir.spi.EngineProvider;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two layers of the bundled model as a Hugging Face folder, on a device. */
class FolderEngineTest {
  private static final int LAYERS = 2;
  private static final int TOKENS = 60;

  private static final Map<String, String> NAMES =
      Map.ofEntries(
          Map.entry("attn_norm", "input_layernorm"),
          Map.entry("attn_q", "self_attn.q_proj"),
          Map.entry("attn_k", "self_attn.k_proj"),
          Map.entry("attn_v", "self_attn.v_proj"),
          Map.entry("attn_output", "self_attn.o_proj"),
          Map.entry("ffn_norm", "post_attention_layernorm"),
          Map.entry("ffn_gate", "mlp.gate_proj"),
          Map.entry("ffn_up", "mlp.up_proj"),
          Map.entry("ffn_down", "mlp.down_proj"));

  @TempDir private Path folder;

  @BeforeEach
  void writeFolder() throws IOException {
    try (GgufFile file = BundledFiles.open()) {
      Files.writeString(folder.resolve("config.json"), config(ModelConfig.of(file)));
      Files.write(folder.resolve("model.safetensors"), safetensors(file));
    }
  }

  private static String config(ModelConfig model) {
    return """
    {"model_type": "qwen2", "num_hidden_layers": %d, "hidden_size": %d,
     "intermediate_size": %d, "num_attention_heads": %d, "num_key_value_heads": %d,
     "vocab_size": %d, "max_position_embeddings": %d, "rms_norm_eps": %s, "rope_theta": %s,
     "hidden_act": "silu", "tie_word_embeddings": true}
    """
        .formatted(
            LAYERS,
            model.hidden(),
            model.feedForward(),
            model.queryHeads(),
            model.kvHeads(),
            model.vocabulary(),
            model.contextLength(),
            model.normEpsilon(),
            model.rope().base());
  }

  /** Returns the tensors of the first layers in BF16. */
  private static byte[] safetensors(GgufFile file) {
    Map<String, Tensor> tensors = new LinkedHashMap<>();
    tensors.put("model.embed_tokens.weight", file.find("token_embd.weight").orElseThrow());
    tensors.put("model.norm.weight", file.find("output_norm.weight").orElseThrow());
    for (int layer = 0; layer < LAYERS; layer++) {
      String to = "model.layers.%d.".formatted(layer);
      String from = "blk.%d.".formatted(layer);
      NAMES.forEach(
          (gguf, name) -> {
            for (String kind : List.of(".weight", ".bias")) {
              file.find(from + gguf + kind)
                  .ifPresent(found -> tensors.put(to + name + kind, found));
            }
          });
    }
    ByteArrayOutputStream data = new ByteArrayOutputStream();
    List<String> entries = new ArrayList<>();
    tensors.forEach(
        (name, tensor) -> {
          int begin = data.size();
          data.writeBytes(brainFloats(tensor.toFloats()));
          entries.add(
              "\"%s\":{\"dtype\":\"BF16\",\"shape\":%s,\"data_offsets\":[%d,%d]}"
                  .formatted(name, Arrays.toString(tensor.shape()), begin, data.size()));
        });
    byte[] header = "{%s}".formatted(String.join(",", entries)).getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(Long.BYTES + header.length + data.size())
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(header.length)
        .put(header)
        .put(data.toByteArray())
        .array();
  }

  private static byte[] brainFloats(float[] numbers) {
    ByteBuffer bytes =
        ByteBuffer.allocate(Short.BYTES * numbers.length).order(ByteOrder.LITTLE_ENDIAN);
    for (float number : numbers) {
      bytes.putShort((short) (Float.floatToRawIntBits(number) >>> 16));
    }
    return bytes.array();
  }

  private EngineProvider.LoadRequest request(SafetensorsFolder files) {
    return new EngineProvider.LoadRequest(
        files,
        ModelConfig.of(folder),
        List.of(CacheSpec.DEFAULT),
        Long.MAX_VALUE,
        (done, all) -> {});
  }

  @Test
  void foldersAreAccepted() {
    try (SafetensorsFolder files = SafetensorsFolder.open(folder)) {
      FileWeightSource.check(files, ModelConfig.of(folder));
      long matrices =
          files.tensors().stream()
              .filter(tensor -> tensor.shape().length == 2)
              .mapToLong(tensor -> tensor.data().byteSize())
              .sum();
      assertThat(FileWeightSource.bytes(files, ModelConfig.of(folder), false))
          .isBetween(matrices, matrices + matrices / 50);
    }
  }

  @Test
  @NeedsDevice
  void logitsAreThoseOfTheHost() throws IOException {
    int[] prose = Arrays.copyOf(BundledModel.prose(), TOKENS);
    try (SafetensorsFolder files = SafetensorsFolder.open(folder);
        WorkerPool workers = new WorkerPool(2);
        HostEngine host =
            HostEngine.load(
                folder,
                KernelChoice.ofThisProcess().kernels(),
                workers,
                MemoryPool.unlimited(),
                (done, all) -> {});
        DecoderEngine engine = new CudaProvider().open(request(files));
        KvCache wanted = host.newCache(CacheSpec.DEFAULT, Optional.empty(), TOKENS + 1);
        KvCache found = engine.newCache(CacheSpec.DEFAULT, Optional.empty(), TOKENS + 1)) {
      assertThat(engine.fingerprint()).isEqualTo(host.fingerprint());
      for (int[] step : List.of(prose, new int[] {prose[3]})) {
        float[] ofHost = BundledModel.logits(host, wanted, step);
        float[] ofDevice = BundledModel.logits(engine, found, step);
        assertThat(BundledModel.divergence(ofHost, ofDevice)).isLessThan(1e-3);
      }
    }
  }
}
