package dev.kvasir.cuda.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.cuda.driver.NeedsDevice;
import dev.kvasir.cuda.engine.RandomFolder.Family;
import dev.kvasir.cuda.engine.RandomFolder.HeadNorms;
import dev.kvasir.cuda.engine.RandomFolder.Norms;
import dev.kvasir.format.SafetensorsFolder;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.DecoderEngine;
import dev.kvasir.model.HostEngine;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.spi.EngineProvider.LoadRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random models of many families on a device, compared with the host. Windows are at least 160: the
 * host does not quantize shorter ones behind a residual window of 32.
 */
class FamilyEngineTest {
  private static final int PROMPT = 333;
  private static final int GENERATED = 20;

  private static final int NUDGES = 3;
  private static final int NUDGES_ALLOWED = 2;

  private static final Family GEMMA2 =
      new Family(
          "gemma2",
          256,
          Norms.PRE_AND_POST,
          HeadNorms.NONE,
          false,
          1,
          0,
          """
          "hidden_activation": "gelu_pytorch_tanh", "query_pre_attn_scalar": 224,
          "sliding_window": 180, "attn_logit_softcapping": 3, "final_logit_softcapping": 5\
          """);

  private static final Family GEMMA3 =
      new Family(
          "gemma3_text",
          256,
          Norms.PRE_AND_POST,
          HeadNorms.EACH,
          false,
          1,
          0,
          """
          "hidden_activation": "gelu_pytorch_tanh", "query_pre_attn_scalar": 256,
          "sliding_window": 170, "rope_theta": 1000000, "rope_local_base_freq": 10000,
          "rope_scaling": {"rope_type": "linear", "factor": 8},
          "layer_types": ["sliding_attention", "sliding_attention", "full_attention",
          "sliding_attention"]\
          """);

  private static final Family GRANITE =
      new Family(
          "granite",
          64,
          Norms.PRE,
          HeadNorms.NONE,
          false,
          0,
          0,
          """
          "embedding_multiplier": 6, "attention_multiplier": 0.2, "residual_multiplier": 0.4,
          "logits_scaling": 3\
          """);

  private static final Family OLMO2 =
      new Family("olmo2", 128, Norms.POST, HeadNorms.ALL, false, 0, 0, "\"rope_theta\": 500000");

  private static final Family SMOLLM3 =
      new Family(
          "smollm3",
          128,
          Norms.PRE,
          HeadNorms.NONE,
          false,
          0,
          0,
          """
          "no_rope_layers": [1, 0, 1, 0], "rope_theta": 50000\
          """);

  private static final Family MISTRAL =
      new Family("mistral", 128, Norms.PRE, HeadNorms.NONE, false, 0, 0, "\"sliding_window\": 165");

  private static final Family NARROW =
      new Family("mistral", 96, Norms.PRE, HeadNorms.NONE, false, 0, 0, "\"sliding_window\": 200");

  private static final Family MINISTRAL =
      new Family(
          "ministral3",
          128,
          Norms.PRE,
          HeadNorms.NONE,
          false,
          0,
          0,
          """
          "rope_parameters": {"rope_type": "yarn", "rope_theta": 100000, "factor": 16,
          "original_max_position_embeddings": 128, "mscale": 1, "mscale_all_dim": 0.5,
          "llama_4_scaling_beta": 0.1}\
          """);

  private static final Family QWEN2 =
      new Family(
          "qwen2",
          64,
          Norms.PRE,
          HeadNorms.NONE,
          true,
          0,
          0,
          """
          "use_sliding_window": true, "sliding_window": 161, "max_window_layers": 2,
          "rope_theta": 1000000\
          """);

  private static final Family MIXTRAL =
      new Family(
          "mixtral",
          64,
          Norms.PRE,
          HeadNorms.NONE,
          false,
          0,
          6,
          """
          "num_local_experts": 6, "num_experts_per_tok": 2\
          """);

  private static final Family QWEN3_MOE =
      new Family(
          "qwen3_moe",
          128,
          Norms.PRE,
          HeadNorms.EACH,
          false,
          0,
          20,
          """
          "num_experts": 20, "num_experts_per_tok": 5, "moe_intermediate_size": 768,
          "norm_topk_prob": true, "decoder_sparse_step": 1, "mlp_only_layers": []\
          """);

  private static final Family QWEN2_MOE =
      new Family(
          "qwen2_moe",
          64,
          Norms.PRE,
          HeadNorms.NONE,
          true,
          0,
          12,
          """
          "num_experts": 12, "num_experts_per_tok": 3, "moe_intermediate_size": 768,
          "shared_expert_intermediate_size": 768, "norm_topk_prob": false,
          "decoder_sparse_step": 1, "mlp_only_layers": []\
          """);

  private static final Family GLM4_MOE =
      new Family(
          "glm4_moe",
          128,
          Norms.PRE,
          HeadNorms.EACH,
          true,
          0,
          16,
          """
          "n_routed_experts": 16, "num_experts_per_tok": 4, "moe_intermediate_size": 768,
          "n_shared_experts": 1, "first_k_dense_replace": 1, "n_group": 4, "topk_group": 2,
          "norm_topk_prob": true, "routed_scaling_factor": 1.5, "partial_rotary_factor": 0.5,
          "use_qk_norm": true\
          """);

  private static final Family GPT_OSS =
      new Family(
          "gpt_oss",
          64,
          Norms.PRE,
          HeadNorms.NONE,
          true,
          0,
          8,
          """
          "num_local_experts": 8, "num_experts_per_tok": 2, "sliding_window": 161\
          """);

  static final List<Family> FAMILIES =
      List.of(
          GEMMA2, GEMMA3, GRANITE, OLMO2, SMOLLM3, MISTRAL, NARROW, MINISTRAL, QWEN2, MIXTRAL,
          QWEN3_MOE, QWEN2_MOE, GLM4_MOE, GPT_OSS);
  static final List<Family> WITH_WINDOWS = List.of(MISTRAL, QWEN2);
  static final List<Family> READ_IN_STEPS =
      List.of(GEMMA2, GEMMA3, OLMO2, QWEN2, MIXTRAL, QWEN3_MOE, QWEN2_MOE, GLM4_MOE, GPT_OSS);

  @TempDir private Path folder;

  static Stream<Arguments> familiesAndCaches() {
    return FAMILIES.stream()
        .flatMap(
            family ->
                Stream.of(
                    Arguments.of(family, "fp16"),
                    Arguments.of(family, "kivi:4,window=32"),
                    Arguments.of(family, "kivi:2,window=32,sinks=5,group=32"),
                    Arguments.of(family, "kivi:3,v=4,window=32,sinks=5,group=32")));
  }

  private LoadRequest request(SafetensorsFolder files, String cache) {
    return request(files, cache, List.of(0));
  }

  private LoadRequest request(SafetensorsFolder files, String cache, List<Integer> ordinals) {
    return new LoadRequest(
        files,
        ModelConfig.of(folder),
        ordinals,
        List.of(CacheSpec.parse(cache)),
        Long.MAX_VALUE,
        (done, all) -> {});
  }

  @ParameterizedTest
  @FieldSource("FAMILIES")
  void familiesAreAccepted(Family family) throws IOException {
    new RandomFolder(family).writeZeros(folder);
    try (SafetensorsFolder files = SafetensorsFolder.open(folder)) {
      new CudaProvider().check(request(files, "fp16"));
      new CudaProvider().check(request(files, "kivi:2"));
      new CudaProvider().check(request(files, "kivi:3,v=8"));
      new CudaProvider().check(request(files, "kvtuner:3"));
    }
  }

  @ParameterizedTest
  @FieldSource("WITH_WINDOWS")
  void cachesWithoutKernelsForWindowsAreRefused(Family family) throws IOException {
    new RandomFolder(family).writeZeros(folder);
    try (SafetensorsFolder files = SafetensorsFolder.open(folder)) {
      assertThatThrownBy(() -> new CudaProvider().check(request(files, "patternkv:2,rope=static")))
          .isInstanceOf(DeviceException.class)
          .hasMessageContaining("expected fp16, kivi or kvtuner");
    }
  }

  /**
   * Small differences grow in random models: codes and the choice of experts flip. What is allowed
   * is a multiple of what the host differs by from itself after nudges of 2^-12, or a hundredth of
   * what quantization changes. One nudge may flip few experts by chance, and several seldom do.
   */
  @ParameterizedTest
  @MethodSource("familiesAndCaches")
  @NeedsDevice
  void logitsAreThoseOfTheHost(Family family, String cache) throws IOException {
    new RandomFolder(family).write(folder);
    List<float[]> wanted;
    double allowed;
    try (WorkerPool workers = new WorkerPool(2);
        HostEngine host = host(folder, workers)) {
      wanted = logits(host, cache);
      double ofNudges = largestDivergenceOfNudges(family, cache, wanted, workers);
      double ofCodes = meanDivergence(logits(host, "fp16"), wanted);
      allowed = Math.max(5e-5, Math.max(NUDGES_ALLOWED * ofNudges, ofCodes / 100));
    }
    try (SafetensorsFolder files = SafetensorsFolder.open(folder);
        DecoderEngine engine = new CudaProvider().open(request(files, cache))) {
      double found = meanDivergence(wanted, logits(engine, cache));
      assertThat(found).as("%s of %s", cache, family.type()).isLessThan(allowed);
    }
  }

  private double largestDivergenceOfNudges(
      Family family, String cache, List<float[]> wanted, WorkerPool workers) throws IOException {
    double largest = 0;
    for (int bit = 0; bit < NUDGES; bit++) {
      Path nudged = Files.createDirectory(folder.resolve("nudged" + bit));
      new RandomFolder(family).nudged(bit).write(nudged);
      try (HostEngine host = host(nudged, workers)) {
        largest = Math.max(largest, meanDivergence(wanted, logits(host, cache)));
      }
    }
    return largest;
  }

  private static HostEngine host(Path folder, WorkerPool workers) throws IOException {
    return HostEngine.load(
        folder,
        KernelChoice.ofThisProcess().kernels(),
        workers,
        MemoryPool.unlimited(),
        (done, all) -> {});
  }

  /** Returns the logits after a prompt and after each token that follows. */
  private static List<float[]> logits(DecoderEngine engine, String cache) {
    int[] tokens = new Random(3).ints(PROMPT + GENERATED, 0, RandomFolder.VOCABULARY).toArray();
    List<float[]> logits = new ArrayList<>();
    try (KvCache cached =
        engine.newCache(CacheSpec.parse(cache), Optional.empty(), tokens.length)) {
      for (int at = 0, end; at < tokens.length; at = end) {
        end = at == 0 ? PROMPT : at + 1;
        logits.add(BundledModel.logits(engine, cached, Arrays.copyOfRange(tokens, at, end)));
        cached.quantizeWindow();
      }
    }
    return logits;
  }

  private static double meanDivergence(List<float[]> wanted, List<float[]> found) {
    return IntStream.range(0, wanted.size())
        .mapToDouble(i -> BundledModel.divergence(wanted.get(i), found.get(i)))
        .average()
        .orElseThrow();
  }

  /** Blocks are quantized at the same positions, after 256 tokens. */
  @ParameterizedTest
  @FieldSource("READ_IN_STEPS")
  @NeedsDevice
  void stepsOfAPromptChangeNoBit(Family family) throws IOException {
    new RandomFolder(family).write(folder);
    CacheSpec spec = CacheSpec.parse("kivi:2,window=128");
    int[] tokens = new Random(4).ints(PROMPT, 0, RandomFolder.VOCABULARY).toArray();
    try (SafetensorsFolder files = SafetensorsFolder.open(folder);
        DecoderEngine engine = new CudaProvider().open(request(files, "kivi:2"));
        KvCache whole = engine.newCache(spec, Optional.empty(), tokens.length + 1);
        KvCache parts = engine.newCache(spec, Optional.empty(), tokens.length + 1)) {
      float[] wanted = read(engine, whole, tokens, 256, tokens.length);
      float[] found = read(engine, parts, tokens, 100, 256, 300, tokens.length);
      assertThat(found).isEqualTo(wanted);
    }
  }

  /** Each range has its own windows, RoPEs, experts and norms. */
  @ParameterizedTest
  @FieldSource("FAMILIES")
  @NeedsDevice
  void rangesOfLayersOnOneDeviceChangeNoBit(Family family) throws IOException {
    new RandomFolder(family).write(folder);
    String cache = "kivi:2,window=32,sinks=5,group=32";
    try (SafetensorsFolder files = SafetensorsFolder.open(folder);
        DecoderEngine one = new CudaProvider().open(request(files, cache));
        DecoderEngine two = new CudaProvider().open(request(files, cache, List.of(0, 0)))) {
      List<float[]> wanted = logits(one, cache);
      List<float[]> found = logits(two, cache);
      for (int i = 0; i < wanted.size(); i++) {
        assertThat(found.get(i)).as("logits %d of %s", i, family.type()).isEqualTo(wanted.get(i));
      }
    }
  }

  /** Returns the logits after the last of some steps. */
  private static float[] read(DecoderEngine engine, KvCache cache, int[] tokens, int... ends) {
    float[] logits = {};
    int from = 0;
    for (int end : ends) {
      logits = BundledModel.logits(engine, cache, Arrays.copyOfRange(tokens, from, end));
      cache.quantizeWindow();
      from = end;
    }
    return logits;
  }

  @Test
  void modelsWithOtherLayersAreRefused() throws IOException {
    Family latent =
        new Family(
            "deepseek_v2",
            64,
            Norms.PRE,
            HeadNorms.NONE,
            false,
            0,
            0,
            """
            "q_lora_rank": null, "kv_lora_rank": 64, "qk_nope_head_dim": 32,
            "qk_rope_head_dim": 32, "v_head_dim": 64\
            """);
    new RandomFolder(latent).writeZeros(folder);
    try (SafetensorsFolder files = SafetensorsFolder.open(folder)) {
      assertThatThrownBy(() -> new CudaProvider().check(request(files, "fp16")))
          .hasMessageContaining("a device requires");
    }
  }
}
