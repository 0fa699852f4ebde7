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
  DENSE_A3B(48, 2048, 8 * 768, 32, 4),
  /** Granite 4.0 H 1B: Mamba-2 in nine of ten layers. */
  GRANITE_H_1B(40, 1536, 4096, 12, 4, RandomHybrid.GRANITE_H),
  /** Qwen 3.5 0.8B: gated delta nets in three of four layers. */
  QWEN3_5_0_8B(24, 1024, 3584, 8, 2, RandomHybrid.QWEN3_5);

  final int layers;
  final int width;
  final int feedForward;
  final int queryHeads;
  final int kvHeads;
  final int experts;
  final int expertsUsed;
  final RandomHybrid hybrid; // null without recurrent layers

  ModelPreset(int layers, int width, int feedForward, int queryHeads, int kvHeads) {
    this(layers, width, feedForward, queryHeads, kvHeads, 0, 0);
  }

  ModelPreset(
      int layers, int width, int feedForward, int queryHeads, int kvHeads, RandomHybrid hybrid) {
    this(layers, width, feedForward, queryHeads, kvHeads, 0, 0, hybrid);
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
    this(layers, width, feedForward, queryHeads, kvHeads, experts, expertsUsed, null);
  }

  ModelPreset(
      int layers,
      int width,
      int feedForward,
      int queryHeads,
      int kvHeads,
      int experts,
      int expertsUsed,
      RandomHybrid hybrid) {
    this.layers = layers;
    this.width = width;
    this.feedForward = feedForward;
    this.queryHeads = queryHeads;
    this.kvHeads = kvHeads;
    this.experts = experts;
    this.expertsUsed = expertsUsed;
    this.hybrid = hybrid;
  }

  /** Returns the name of its family in GGUF. */
  String architecture() {
    return hybrid == null ? "llama" : hybrid.architecture;
  }

  /** Returns the channels of a head. */
  int headDim() {
    return hybrid == null ? width / queryHeads : hybrid.headDim;
  }

  /** Returns the channels of all KV heads. */
  int kvWidth() {
    return headDim() * kvHeads;
  }

  /** Returns the name as typed. */
  String typed() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-').replace("3-5-0-8", "3.5-0.8");
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
