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
  MISTRAL("mistral", RopeLayout.NEIGHBOURS, Bias.IF_PRESENT, false),
  QWEN2("qwen2", RopeLayout.HALVES, Bias.REQUIRED, false),
  QWEN3("qwen3", RopeLayout.HALVES, Bias.IF_PRESENT, true),
  QWEN2_MOE("qwen2moe", RopeLayout.HALVES, Bias.REQUIRED, false, "qwen2_moe"),
  QWEN3_MOE("qwen3moe", RopeLayout.HALVES, Bias.IF_PRESENT, true, "qwen3_moe"),
  MIXTRAL("mixtral", RopeLayout.NEIGHBOURS, Bias.IF_PRESENT, false),
  GPT_OSS("gpt-oss", RopeLayout.HALVES, Bias.REQUIRED, false, "gpt_oss");

  /** Whether query, key and value projections add a bias. */
  enum Bias {
    REQUIRED,
    IF_PRESENT
  }

  private final String fileName;
  private final RopeLayout ggufRopeLayout;
  private final Bias attentionBias;
  private final boolean headNorms;
  private final String folderName;

  Architecture(String fileName, RopeLayout ggufRopeLayout, Bias attentionBias, boolean headNorms) {
    this(fileName, ggufRopeLayout, attentionBias, headNorms, fileName);
  }

  Architecture(
      String fileName,
      RopeLayout ggufRopeLayout,
      Bias attentionBias,
      boolean headNorms,
      String folderName) {
    this.fileName = fileName;
    this.folderName = folderName;
    this.ggufRopeLayout = ggufRopeLayout;
    this.attentionBias = attentionBias;
    this.headNorms = headNorms;
  }

  /** The family that a file means by that name. */
  static Architecture named(String name, String fileName) {
    return Arrays.stream(values())
        .filter(known -> known.fileName.equals(name) || known.folderName.equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "%s: the architecture is '%s'; supported are %s"
                        .formatted(fileName, name, known())));
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
    return ggufRopeLayout;
  }

  Bias attentionBias() {
    return attentionBias;
  }

  boolean headNorms() {
    return headNorms;
  }

  /** Whether all of its models are mixtures of experts; of Llama's some are. */
  boolean hasExperts() {
    return this == QWEN2_MOE || this == QWEN3_MOE || this == MIXTRAL || this == GPT_OSS;
  }
}
