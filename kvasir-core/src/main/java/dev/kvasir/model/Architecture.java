package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * The families that share the one decoder. A family is nothing but these answers; the forward pass
 * never asks for its name.
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

  /** What queries and keys are divided by before they turn. */
  enum HeadNorms {
    NONE,
    /** Each head by the root mean square of its own channels. */
    PER_HEAD,
    /** All heads by that of all their channels. */
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

  /** The family that a file means by that name. */
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

  /** What files call it. */
  public String identifier() {
    return identifier;
  }

  /** Conversion to GGUF reorders the heads of some families; Hugging Face files are all halves. */
  RopeLayout ggufRopeLayout() {
    return traits.ggufRopeLayout();
  }

  /** Whether its layers attend to latent vectors. */
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

  /** Whether all of its models are mixtures of experts; of Llama's some are. */
  boolean hasExperts() {
    return this == QWEN2_MOE || this == QWEN3_MOE || this == MIXTRAL || this == GPT_OSS;
  }
}
