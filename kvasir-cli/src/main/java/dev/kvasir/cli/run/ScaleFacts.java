package dev.kvasir.cli.run;

import dev.kvasir.cli.terminal.FactSheet;
import dev.kvasir.model.Scales;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Describes the scales and soft caps of a model; prints nothing if it has neither. */
final class ScaleFacts {
  private ScaleFacts() {}

  static void describe(Scales scales, FactSheet sheet) {
    List<String> factors = new ArrayList<>();
    add(factors, "embeddings by", scales.embedding(), 1);
    add(factors, "queries by", scales.query(), 1);
    add(factors, "what layers add by", scales.residual(), 1);
    add(factors, "logits by", scales.logit(), 1);
    line(sheet, "scales", factors);
    List<String> caps = new ArrayList<>();
    add(caps, "scores within", scales.scoreCap(), 0);
    add(caps, "logits within", scales.logitCap(), 0);
    line(sheet, "caps", caps);
  }

  private static void add(List<String> words, String what, float number, float none) {
    if (number != none) {
      words.add(what + String.format(Locale.ROOT, " %.4g", number));
    }
  }

  private static void line(FactSheet sheet, String name, List<String> words) {
    if (!words.isEmpty()) {
      sheet.line(name, String.join(", ", words));
    }
  }
}
