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
  DEEPSEEK2("deepseek2", RopeLayout.NEIGHBOURS, Bias.IF_PRESENT, false),
  DEEPSEEK_V2("deepseek_v2", RopeLayout.NEIGHBOURS, Bias.IF_PRESENT, false),
  DEEPSEEK_V3("deepseek_v3", RopeLayout.NEIGHBOURS, Bias.IF_PRESENT, false);

  /** Whether query, key and value projections add a bias. */
  enum Bias {
    REQUIRED,
    IF_PRESENT
  }

  private final String fileName;
  private final RopeLayout ggufRopeLayout;
  private final Bias attentionBias;
  private final boolean headNorms;

  Architecture(String fileName, RopeLayout ggufRopeLayout, Bias attentionBias, boolean headNorms) {
    this.fileName = fileName;
    this.ggufRopeLayout = ggufRopeLayout;
    this.attentionBias = attentionBias;
    this.headNorms = headNorms;
  }

  /** The family that a file means by that name. */
  static Architecture named(String name, String fileName) {
    return Arrays.stream(values())
        .filter(architecture -> architecture.fileName.equals(name))
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

  /** Whether its layers attend to latent vectors. */
  boolean isLatent() {
    return this == DEEPSEEK2 || this == DEEPSEEK_V2 || this == DEEPSEEK_V3;
  }

  Bias attentionBias() {
    return attentionBias;
  }

  boolean headNorms() {
    return headNorms;
  }
}
