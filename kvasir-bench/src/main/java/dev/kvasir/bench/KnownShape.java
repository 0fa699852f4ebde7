package dev.kvasir.bench;

import dev.kvasir.error.InvalidInputException;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Sizes of models that people run, but for their vocabularies. */
enum KnownShape {
  LLAMA_8B(32, 4096, 14336, 32, 8),
  LLAMA_3B(28, 3072, 8192, 24, 8),
  TINYLLAMA(22, 2048, 5632, 32, 4);

  final int layers;
  final int width;
  final int feedForward;
  final int queryHeads;
  final int kvHeads;

  KnownShape(int layers, int width, int feedForward, int queryHeads, int kvHeads) {
    this.layers = layers;
    this.width = width;
    this.feedForward = feedForward;
    this.queryHeads = queryHeads;
    this.kvHeads = kvHeads;
  }

  /** Channels of all KV heads. */
  int kvWidth() {
    return width / queryHeads * kvHeads;
  }

  /** As it is typed. */
  String typed() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  static KnownShape of(String typed) {
    return Arrays.stream(values())
        .filter(shape -> shape.typed().equals(typed))
        .findFirst()
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "--like is '%s'; expected one of %s".formatted(typed, all())));
  }

  private static String all() {
    return Arrays.stream(values()).map(KnownShape::typed).collect(Collectors.joining(", "));
  }
}
