package dev.kvasir.lab.report;

import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.Settings;
import dev.kvasir.lab.eval.Task;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** How an evaluation was measured, by name; what no task used is left out. */
final class Facts {
  private Facts() {}

  static Map<String, String> of(Evaluation evaluation, Provenance provenance) {
    Settings settings = evaluation.settings();
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("Model", evaluation.model());
    if (settings.tasks().contains(Task.PPL) || settings.tasks().contains(Task.KLD)) {
      facts.put(
          "Text", "%s, up to %s tokens".formatted(evaluation.text(), longestContext(settings)));
    }
    if (settings.tasks().contains(Task.NEEDLE) || settings.tasks().contains(Task.RECORDS)) {
      facts.put("Lengths", contexts(settings) + " tokens");
    }
    if (settings.tasks().stream().anyMatch(Task::higherIsBetter)) {
      facts.put("Samples", samples(settings));
    }
    facts.put("Seed", Long.toString(settings.seed()));
    facts.put("Machine", evaluation.machine());
    facts.put("Version", provenance.version());
    provenance.commit().ifPresent(commit -> facts.put("Commit", commit));
    facts.put("Date", provenance.date());
    return facts;
  }

  private static String samples(Settings settings) {
    String samples = "%d of each task and length".formatted(settings.samples());
    return settings.tasks().contains(Task.CHAIN)
        ? "%s; programs of %d steps".formatted(samples, settings.steps())
        : samples;
  }

  static String longestContext(Settings settings) {
    return number(settings.longestContext());
  }

  private static String contexts(Settings settings) {
    return settings.contexts().stream().map(Facts::number).collect(Collectors.joining(" / "));
  }

  private static String number(int value) {
    return String.format(Locale.ROOT, "%,d", value);
  }
}
