package dev.kvasir.bench;

import dev.kvasir.error.InvalidInputException;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Sizes of common models, except for their vocabularies. */
enum ModelPreset {
  LLAMA_8B(32, 4096, 14336, 32, 8),
  LLAMA_3B(28, 3072, 8192, 24, 8),
  TINYLLAMA(22, 2048, 5632, 32, 4),
  MOE_1B(16, 1024, 512, 16, 4, 32, 4),
  /** Qwen3-30B-A3B, except for heads of half the width. */
  MOE_30B_A3B(48, 2048, 768, 32, 4, 128, 8),
  /** A dense model with as many weights as the active ones of MOE_30B_A3B. */
  DENSE_A3B(48, 2048, 8 * 768, 32, 4);

  final int layers;
  final int width;
  final int feedForward;
  final int queryHeads;
  final int kvHeads;
  final int experts;
  final int expertsUsed;

  ModelPreset(int layers, int width, int feedForward, int queryHeads, int kvHeads) {
    this(layers, width, feedForward, queryHeads, kvHeads, 0, 0);
  }

  /**
   * @param feedForward of one expert, if there are experts
   */
  ModelPreset(
      int layers,
      int width,
      int feedForward,
      int queryHeads,
      int kvHeads,
      int experts,
      int expertsUsed) {
    this.layers = layers;
    this.width = width;
    this.feedForward = feedForward;
    this.queryHeads = queryHeads;
    this.kvHeads = kvHeads;
    this.experts = experts;
    this.expertsUsed = expertsUsed;
  }

  /** Returns the channels of all KV heads. */
  int kvWidth() {
    return width / queryHeads * kvHeads;
  }

  /** Returns the name as typed. */
  String typed() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  static ModelPreset of(String typed) {
    return Arrays.stream(values())
        .filter(shape -> shape.typed().equals(typed))
        .findFirst()
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "--like is '%s'; expected one of %s".formatted(typed, all())));
  }

  static String all() {
    return Arrays.stream(values()).map(ModelPreset::typed).collect(Collectors.joining(", "));
  }
}
