package dev.kvasir.lab.report;

import java.util.Arrays;
import java.util.Set;

/**
 * Families of quantization methods, each with a color of contrast 3.8 or more on white and near
 * black.
 */
enum MethodFamily {
  TABLES("tables of tokens", "#e0395f", "mead"),
  GROUPS("scales by group", "#3f86cf", "kivi", "patternkv", "ott", "skvq"),
  ROTATED(
      "rotated or balanced",
      "#9a7d0a",
      "quarot",
      "turboquant",
      "rotatekv",
      "qserve",
      "kvarn",
      "oscar"),
  WIDTHS("more bits for some", "#1f9379", "mixkvq", "pmkvq", "kvtuner", "zipcache", "mikv"),
  CODEBOOKS("codebooks", "#a868c9", "commvq", "kvquant", "vqllm"),
  OTHERS("others", SvgPicture.GREY);

  private final String title;
  private final String colour;
  private final Set<String> methods;

  MethodFamily(String title, String colour, String... methods) {
    this.title = title;
    this.colour = colour;
    this.methods = Set.of(methods);
  }

  static MethodFamily of(String method) {
    return Arrays.stream(values())
        .filter(family -> family.methods.contains(method))
        .findFirst()
        .orElse(OTHERS);
  }

  String title() {
    return title;
  }

  String colour() {
    return colour;
  }
}
