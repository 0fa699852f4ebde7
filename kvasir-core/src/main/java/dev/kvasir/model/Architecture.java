package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Model families that share the decoder. A family only answers these questions; the forward pass
 * never checks its name.
 */
public enum Architecture {
  LLAMA("llama", RopeLayout.INTERLEAVED, Bias.IF_PRESENT, false),
  MISTRAL("mistral", ArchitectureTraits.of(RopeLayout.INTERLEAVED).slidingWindow()),
  MISTRAL3(
      "mistral3",
      ArchitectureTraits.of(RopeLayout.INTERLEAVED).withAliases("ministral3").slidingWindow()),
  QWEN2("qwen2", RopeLayout.HALVES, Bias.REQUIRED, false),
  QWEN3("qwen3", RopeLayout.HALVES, Bias.IF_PRESENT, true),
  GEMMA2(
      "gemma2",
      ArchitectureTraits.of(RopeLayout.HALVES)
          .with(NormPlacement.PRE_AND_POST)
          .with(Activation.GELU)
          .normsMinusOne()
          .slidingWindowExceptEvery(2)),
  GEMMA3(
      "gemma3",
      ArchitectureTraits.of(RopeLayout.HALVES)
          .withAliases("gemma3_text")
          .with(HeadNorms.PER_HEAD)
          .with(NormPlacement.PRE_AND_POST)
          .with(Activation.GELU)
          .normsMinusOne()
          .slidingWindowExceptEvery(6)
          .unscaledLocalRope(10_000)),
  GEMMA4(
      "gemma4",
      ArchitectureTraits.of(RopeLayout.HALVES)
          .withAliases("gemma4_text")
          .with(HeadNorms.PER_HEAD)
          .with(NormPlacement.PRE_AND_POST)
          .with(Activation.GELU)
          .slidingWindowExceptEvery(6)
          .unscaledLocalRope(10_000)
          .unscaledScores()
          .normalizedValues()
          .denseBesideExperts()
          .withHuggingFaceNames(Map.of("mlp.experts.", "experts."))),
  PHI3("phi3", ArchitectureTraits.of(RopeLayout.HALVES).fusedGates().slidingWindow()),
  GRANITE("granite", ArchitectureTraits.of(RopeLayout.INTERLEAVED)),
  OLMO2(
      "olmo2",
      ArchitectureTraits.of(RopeLayout.HALVES)
          .withAliases("olmo3")
          .with(HeadNorms.ALL_HEADS)
          .with(NormPlacement.POST)
          .slidingWindowExceptEvery(4)
          .unscaledLocalRope(0)),
  SMOLLM3("smollm3", ArchitectureTraits.of(RopeLayout.INTERLEAVED)),
  QWEN2_MOE(
      "qwen2moe",
      ArchitectureTraits.of(RopeLayout.HALVES).withAliases("qwen2_moe").with(Bias.REQUIRED)),
  QWEN3_MOE(
      "qwen3moe",
      ArchitectureTraits.of(RopeLayout.HALVES).withAliases("qwen3_moe").with(HeadNorms.PER_HEAD)),
  MIXTRAL("mixtral", ArchitectureTraits.of(RopeLayout.INTERLEAVED).slidingWindow()),
  GPT_OSS(
      "gpt-oss",
      ArchitectureTraits.of(RopeLayout.HALVES)
          .withAliases("gpt_oss")
          .with(Bias.REQUIRED)
          .with(NormPlacement.PRE_WITH_POST_NAMES)
          .slidingWindowExceptEvery(2)
          .withSinks()),

  DEEPSEEK2(
      "deepseek2",
      ArchitectureTraits.of(RopeLayout.INTERLEAVED)
          .withAliases("deepseek_v2", "deepseek_v3", "glm4_moe_lite")),
  ERNIE4_5("ernie4_5", ArchitectureTraits.of(RopeLayout.INTERLEAVED)),
  GLM4_MOE(
      "glm4moe",
      ArchitectureTraits.of(RopeLayout.HALVES)
          .withAliases("glm4_moe")
          .with(HeadNorms.PER_HEAD_IF_PRESENT)
          .with(NormPlacement.PRE_WITH_POST_NAMES)),
  QWEN3_NEXT("qwen3next", gatedDeltaNet("qwen3_next")),
  QWEN35("qwen35", gatedDeltaNet("qwen3_5", "qwen3_5_text")),
  QWEN35_MOE("qwen35moe", gatedDeltaNet("qwen3_5_moe", "qwen3_5_moe_text")),
  GRANITE_HYBRID(
      "granitehybrid",
      ArchitectureTraits.of(RopeLayout.INTERLEAVED)
          .withAliases("granitemoehybrid")
          .fusedGates()
          .withHuggingFaceNames(
              Map.of(
                  "mlp.gate_up_proj", "shared_mlp.input_linear",
                  "mlp.down_proj", "shared_mlp.output_linear"))),
  NEMOTRON_H("nemotron_h", nemotron()),
  NEMOTRON_H_MOE("nemotron_h_moe", nemotron()),
  LFM2("lfm2", lfm2()),
  LFM2_MOE("lfm2moe", lfm2("lfm2_moe"));

  /** Returns the traits of Nemotron-H: layers of one part each. */
  private static ArchitectureTraits nemotron() {
    return ArchitectureTraits.of(RopeLayout.HALVES)
        .with(NormPlacement.ONE)
        .ungated()
        .withHuggingFaceNames(
            Map.of(
                "model.embed_tokens", "backbone.embeddings",
                "model.norm", "backbone.norm_f",
                "model.layers.", "backbone.layers.",
                "input_layernorm", "norm",
                "self_attn.", "mixer.",
                "mamba.", "mixer.",
                "mlp.", "mixer."));
  }

  /** Returns the traits of LFM2. */
  private static ArchitectureTraits lfm2(String... aliases) {
    return ArchitectureTraits.of(RopeLayout.HALVES)
        .withAliases(aliases)
        .with(HeadNorms.PER_HEAD)
        .withGgufNames(Map.of("output_norm", "token_embd_norm"))
        .withHuggingFaceNames(
            Map.of(
                "input_layernorm", "operator_norm",
                "post_attention_layernorm", "ffn_norm",
                "self_attn.q_norm", "self_attn.q_layernorm",
                "self_attn.k_norm", "self_attn.k_layernorm",
                "self_attn.o_proj", "self_attn.out_proj",
                "mlp.gate_proj", "feed_forward.w1",
                "mlp.up_proj", "feed_forward.w3",
                "mlp.down_proj", "feed_forward.w2",
                "model.norm", "model.embedding_norm"));
  }

  /** Returns the traits of Qwen's hybrids. */
  private static ArchitectureTraits gatedDeltaNet(String... aliases) {
    return ArchitectureTraits.of(RopeLayout.HALVES)
        .withAliases(aliases)
        .with(HeadNorms.PER_HEAD)
        .with(NormPlacement.PRE_WITH_POST_NAMES)
        .normsMinusOne()
        .gatedQueries();
  }

  /** Whether query, key and value projections add a bias. */
  enum Bias {
    REQUIRED,
    IF_PRESENT
  }

  /** How queries and keys are normalized before RoPE. */
  enum HeadNorms {
    NONE,
    /** Each head by the root mean square of its channels. */
    PER_HEAD,
    /** The same where a file has norms. */
    PER_HEAD_IF_PRESENT,
    /** All heads together by the root mean square of all their channels. */
    ALL_HEADS
  }

  private final String identifier;
  private final ArchitectureTraits traits;

  Architecture(String fileName, RopeLayout ggufRopeLayout, Bias attentionBias, boolean headNorms) {
    this(
        fileName,
        ArchitectureTraits.of(ggufRopeLayout)
            .with(attentionBias)
            .with(headNorms ? HeadNorms.PER_HEAD : HeadNorms.NONE));
  }

  Architecture(String fileName, ArchitectureTraits traits) {
    this.identifier = fileName;
    this.traits = traits;
  }

  /** Returns the family with a name or alias; fails for an unknown one. */
  static Architecture named(String name, String fileName) {
    return Arrays.stream(values())
        .filter(architecture -> architecture.hasName(name))
        .findFirst()
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "%s: the architecture is '%s'; supported are %s"
                        .formatted(fileName, name, supportedNames())));
  }

  private boolean hasName(String name) {
    return identifier.equals(name) || traits.aliases().contains(name);
  }

  private static String supportedNames() {
    return Arrays.stream(values()).map(a -> a.identifier).collect(Collectors.joining(", "));
  }

  /** Returns the name used in model files. */
  public String identifier() {
    return identifier;
  }

  /**
   * Returns the RoPE layout of GGUF files, whose conversion reorders some heads. Hugging Face files
   * all use halves.
   */
  RopeLayout ggufRopeLayout() {
    return traits.ggufRopeLayout();
  }

  /** Returns whether layers use latent attention. */
  boolean isLatent() {
    return this == DEEPSEEK2;
  }

  /** Returns whether some layers have a recurrent state instead of attention. */
  boolean isHybrid() {
    return switch (this) {
      case LFM2, LFM2_MOE, GRANITE_HYBRID, NEMOTRON_H, NEMOTRON_H_MOE -> true;
      default -> hasDeltaNets();
    };
  }

  /** Returns whether a layer of the family has only one part. */
  boolean isNemotron() {
    return this == NEMOTRON_H || this == NEMOTRON_H_MOE;
  }

  /** Returns whether the recurrent layers are gated delta nets. */
  boolean hasDeltaNets() {
    return this == QWEN3_NEXT || this == QWEN35 || this == QWEN35_MOE;
  }

  /** Returns the share of rotary channels of a head in folders that do not state it. */
  double rotaryShare() {
    if (hasDeltaNets()) {
      return 0.25;
    }
    return this == GLM4_MOE ? 0.5 : 1;
  }

  Bias attentionBias() {
    return traits.attentionBias();
  }

  HeadNorms headNorms() {
    return traits.headNorms();
  }

  /** Returns where layers have norms. */
  public NormPlacement norms() {
    return traits.norms();
  }

  /** Returns the activation of dense feed-forward layers. */
  public Activation activation() {
    return traits.activation();
  }

  ArchitectureTraits traits() {
    return traits;
  }

  /**
   * Returns whether all models of the family are mixtures of experts. Some Llama models are, too.
   */
  boolean hasExperts() {
    return switch (this) {
      case QWEN2_MOE,
          QWEN3_MOE,
          MIXTRAL,
          GPT_OSS,
          QWEN3_NEXT,
          QWEN35_MOE,
          GLM4_MOE,
          NEMOTRON_H_MOE,
          LFM2_MOE ->
          true;
      default -> false;
    };
  }
}
