package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * The families that share the one decoder. A family is nothing but these answers; the forward pass
 * never asks for its name.
 */
public enum Architecture {
  LLAMA("llama", RopeLayout.NEIGHBOURS, Bias.IF_PRESENT, false),
  MISTRAL("mistral", Traits.of(RopeLayout.NEIGHBOURS).slides()),
  MISTRAL3("mistral3", Traits.of(RopeLayout.NEIGHBOURS).alsoCalled("ministral3")),
  QWEN2("qwen2", RopeLayout.HALVES, Bias.REQUIRED, false),
  QWEN3("qwen3", RopeLayout.HALVES, Bias.IF_PRESENT, true),
  GEMMA2(
      "gemma2",
      Traits.of(RopeLayout.HALVES)
          .with(NormPlaces.AROUND)
          .with(Activation.GELU)
          .normsLessOne()
          .slidesBut(2)),
  GEMMA3(
      "gemma3",
      Traits.of(RopeLayout.HALVES)
          .alsoCalled("gemma3_text")
          .with(HeadNorms.EACH)
          .with(NormPlaces.AROUND)
          .with(Activation.GELU)
          .normsLessOne()
          .slidesBut(6)
          .localsUnstretched(10_000)),
  PHI3("phi3", Traits.of(RopeLayout.HALVES).fusedGates().slides()),
  GRANITE("granite", Traits.of(RopeLayout.NEIGHBOURS)),
  OLMO2(
      "olmo2",
      Traits.of(RopeLayout.HALVES)
          .alsoCalled("olmo3")
          .with(HeadNorms.TOGETHER)
          .with(NormPlaces.AFTER)
          .slidesBut(4)
          .localsUnstretched(0)),
  SMOLLM3("smollm3", Traits.of(RopeLayout.NEIGHBOURS)),
  QWEN2_MOE("qwen2moe", Traits.of(RopeLayout.HALVES).alsoCalled("qwen2_moe").with(Bias.REQUIRED)),
  QWEN3_MOE("qwen3moe", Traits.of(RopeLayout.HALVES).alsoCalled("qwen3_moe").with(HeadNorms.EACH)),
  MIXTRAL("mixtral", Traits.of(RopeLayout.NEIGHBOURS).slides()),
  GPT_OSS(
      "gpt-oss",
      Traits.of(RopeLayout.HALVES)
          .alsoCalled("gpt_oss")
          .with(Bias.REQUIRED)
          .with(NormPlaces.BEFORE_BY_OTHER_NAMES)
          .slidesBut(2)
          .withSinks()),

  DEEPSEEK2("deepseek2", Traits.of(RopeLayout.NEIGHBOURS).alsoCalled("deepseek_v2", "deepseek_v3"));

  /** Whether query, key and value projections add a bias. */
  enum Bias {
    REQUIRED,
    IF_PRESENT
  }

  /** What queries and keys are divided by before they turn. */
  enum HeadNorms {
    NONE,
    /** Each head by the root mean square of its own channels. */
    EACH,
    /** All heads by that of all their channels. */
    TOGETHER
  }

  private final String fileName;
  private final Traits traits;

  Architecture(String fileName, RopeLayout ggufRopeLayout, Bias attentionBias, boolean headNorms) {
    this(
        fileName,
        Traits.of(ggufRopeLayout)
            .with(attentionBias)
            .with(headNorms ? HeadNorms.EACH : HeadNorms.NONE));
  }

  Architecture(String fileName, Traits traits) {
    this.fileName = fileName;
    this.traits = traits;
  }

  /** The family that a file means by that name. */
  static Architecture named(String name, String fileName) {
    return Arrays.stream(values())
        .filter(architecture -> architecture.isCalled(name))
        .findFirst()
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "%s: the architecture is '%s'; supported are %s"
                        .formatted(fileName, name, known())));
  }

  private boolean isCalled(String name) {
    return fileName.equals(name) || traits.otherNames().contains(name);
  }

  private static String known() {
    return Arrays.stream(values()).map(a -> a.fileName).collect(Collectors.joining(", "));
  }

  /** What files call it. */
  public String fileName() {
    return fileName;
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

  NormPlaces norms() {
    return traits.norms();
  }

  Activation activation() {
    return traits.activation();
  }

  Traits traits() {
    return traits;
  }

  /** Whether all of its models are mixtures of experts; of Llama's some are. */
  boolean hasExperts() {
    return this == QWEN2_MOE || this == QWEN3_MOE || this == MIXTRAL || this == GPT_OSS;
  }
}
