package dev.kvasir.cli.run;

import dev.kvasir.cli.terminal.FactSheet;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.ModelConfig.RopeSettings;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.model.RopePattern;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/** Describes the RoPE settings, with a line for each kind of layer. */
final class RopeFacts {
  private RopeFacts() {}

  static void describe(ModelConfig config, FactSheet sheet) {
    List<RopeSettings> kinds = config.ropes().kinds();
    for (int kind = 0; kind < kinds.size(); kind++) {
      sheet.line("rope", rope(kinds.get(kind)) + layers(config, kind));
    }
    if (count(config, RopePattern.NONE) > 0) {
      sheet.line("rope", "none" + layers(config, RopePattern.NONE));
    }
  }

  private static String layers(ModelConfig config, int kind) {
    long count = count(config, kind);
    return count == config.layers() ? "" : ", in %d layers".formatted(count);
  }

  private static long count(ModelConfig config, int kind) {
    return IntStream.range(0, config.layers())
        .filter(layer -> config.ropes().of(layer) == kind)
        .count();
  }

  private static String rope(RopeSettings rope) {
    return "base %s, %d channels, %s%s%s"
        .formatted(
            String.format(Locale.ROOT, "%,.0f", rope.base()),
            rope.dimensions(),
            rope.layout() == RopeLayout.HALVES ? "halves paired" : "neighbours paired",
            scaling(rope.frequencies()),
            rope.magnitude() == 1
                ? ""
                : String.format(Locale.ROOT, ", lengthened by %.4f", rope.magnitude()));
  }

  private static String scaling(RopeFrequencies frequencies) {
    return switch (frequencies) {
      case RopeFrequencies.Unscaled _ -> "";
      case RopeFrequencies.Proportional rule ->
          ", of which %d do".formatted(2 * rule.rotaryPairs());
      case RopeFrequencies.Linear linear -> ", stretched by " + linear.factor();
      case RopeFrequencies.PerPairFactors _ -> ", stretched by factors in the file";
      case RopeFrequencies.Llama3 llama ->
          ", stretched by %s after %,.0f tokens (Llama 3)"
              .formatted(llama.factor(), llama.originalContext());
      case RopeFrequencies.Yarn yarn ->
          ", stretched by %s after %,.0f tokens (YaRN)"
              .formatted(yarn.factor(), yarn.originalContext());
      case RopeFrequencies.LongRope rule ->
          ", stretched by factors for texts %s %,d tokens (LongRoPE)"
              .formatted(rule.usesLongFactors() ? "beyond" : "within", rule.originalContext());
    };
  }
}
