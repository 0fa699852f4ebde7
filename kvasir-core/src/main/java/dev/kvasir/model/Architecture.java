package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * Model families that share the decoder. A family only answers these questions; the forward pass
 * never checks its name.
 */
public enum Architecture {
  LLAMA("llama", RopeLayout.INTERLEAVED, Bias.IF_PRESENT, false),
  MISTRAL("mistral", ArchitectureTraits.of(RopeLayout.INTERLEAVED).slidingWindow()),
  MISTRAL3("mistral3", ArchitectureTraits.of(RopeLayout.INTERLEAVED).withAliases("ministral3")),
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
      ArchitectureTraits.of(RopeLayout.INTERLEAVED).withAliases("deepseek_v2", "deepseek_v3"));

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

  Bias attentionBias() {
    return traits.attentionBias();
  }

  HeadNorms headNorms() {
    return traits.headNorms();
  }

  NormPlacement norms() {
    return traits.norms();
  }

  Activation activation() {
    return traits.activation();
  }

  ArchitectureTraits traits() {
    return traits;
  }

  /**
   * Returns whether all models of the family are mixtures of experts. Some Llama models are, too.
   */
  boolean hasExperts() {
    return this == QWEN2_MOE || this == QWEN3_MOE || this == MIXTRAL || this == GPT_OSS;
  }
}
