package dev.kvasir.lab.report;

import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.EvaluationSettings;
import dev.kvasir.lab.eval.Task;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** How an evaluation was measured, by name; omits settings that no task used. */
final class RunDetails {
  private RunDetails() {}

  static Map<String, String> of(Evaluation evaluation, Provenance provenance) {
    EvaluationSettings settings = evaluation.settings();
    Map<String, String> details = new LinkedHashMap<>();
    details.put("Model", evaluation.model());
    if (settings.tasks().contains(Task.PPL) || settings.tasks().contains(Task.KLD)) {
      details.put(
          "Text", "%s, up to %s tokens".formatted(evaluation.text(), longestContext(settings)));
    }
    if (settings.tasks().contains(Task.NEEDLE) || settings.tasks().contains(Task.RECORDS)) {
      details.put("Lengths", contexts(settings) + " tokens");
    }
    if (settings.tasks().stream().anyMatch(Task::higherIsBetter)) {
      details.put("Samples", samples(settings));
    }
    details.put("Seed", Long.toString(settings.seed()));
    details.put("Machine", evaluation.machine());
    details.put("Version", provenance.version());
    provenance.commit().ifPresent(commit -> details.put("Commit", commit));
    details.put("Date", provenance.date());
    return details;
  }

  private static String samples(EvaluationSettings settings) {
    String samples = "%d of each task and length".formatted(settings.samples());
    return settings.tasks().contains(Task.CHAIN)
        ? "%s; programs of %d steps".formatted(samples, settings.steps())
        : samples;
  }

  static String longestContext(EvaluationSettings settings) {
    return number(settings.longestContext());
  }

  private static String contexts(EvaluationSettings settings) {
    return settings.contexts().stream().map(RunDetails::number).collect(Collectors.joining(" / "));
  }

  private static String number(int value) {
    return String.format(Locale.ROOT, "%,d", value);
  }
}
