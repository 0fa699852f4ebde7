package dev.kvasir.lab.reproduce;

import com.google.gson.JsonPrimitive;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.eval.CacheEvaluator;
import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.EvaluationSettings;
import dev.kvasir.lab.eval.Row;
import dev.kvasir.lab.eval.Sources;
import dev.kvasir.lab.eval.Task;
import dev.kvasir.lab.reproduce.Figures.Cell;
import dev.kvasir.lab.reproduce.Figures.Line;
import dev.kvasir.lab.text.BundledText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A table of perplexities: each row is a cache, each column a text. A block of a text attends to
 * the quantized past. A quick run without the user's texts reads a bundled one.
 */
record PerplexityTable(List<TableRow> rows, List<TextColumn> texts, int fullContext)
    implements Procedure {
  private static final int QUICK_CONTEXT = 257;

  /**
   * A text.
   *
   * @param file its name in the user's folder
   */
  record TextColumn(String label, String file) {}

  @Override
  public List<String> needs() {
    return texts.stream().map(text -> text.file() + " in --data").toList();
  }

  @Override
  public void check(Request request) {
    for (TextColumn text : texts) {
      if (request.data().isPresent()
          ? !Files.exists(request.data().get().resolve(text.file()))
          : !request.quick()) {
        throw new InvalidInputException(
            ("%s does not come with Kvasir; save about %d tokens of it as plain text in %s and give"
                    + " the folder with --data FOLDER")
                .formatted(text.label(), fullContext, text.file()));
      }
    }
  }

  @Override
  public Optional<Figures> run(Conditions conditions) {
    List<String> notes = new ArrayList<>();
    List<TableRow> possible = new ArrayList<>();
    List<TableRow> suited = PaperCaches.suited(rows, conditions.model());
    for (TableRow row : suited) {
      row.obstacle(conditions.model()).ifPresentOrElse(notes::add, () -> possible.add(row));
    }
    Map<String, Double> found = new HashMap<>();
    for (int i = 0; i < texts.size(); i++) {
      PartProgress progress = new PartProgress(conditions.listener(), i, texts.size());
      if (!read(conditions.withListener(progress), texts.get(i), possible, found)) {
        return Optional.empty();
      }
    }
    List<Line> lines =
        suited.stream()
            .map(
                row ->
                    new Line(
                        row.label(),
                        row.spec(),
                        texts.stream()
                            .map(text -> found.get(key(row, text, conditions.request())))
                            .map(value -> value == null ? Cell.NONE : Cell.of(value))
                            .toList()))
            .toList();
    return Optional.of(new Figures(texts.stream().map(TextColumn::label).toList(), lines, notes));
  }

  /** All columns of a quick run without the user's texts are the same text. */
  private static String key(TableRow row, TextColumn text, Request request) {
    return row.spec() + " " + (request.data().isEmpty() ? BundledText.BOOK_NAME : text.label());
  }

  private boolean read(
      Conditions conditions, TextColumn text, List<TableRow> possible, Map<String, Double> found) {
    List<TableRow> missing = new ArrayList<>();
    for (TableRow row : possible) {
      conditions
          .journal()
          .part(key(row, text, conditions.request()))
          .ifPresentOrElse(
              kept -> found.put(key(row, text, conditions.request()), kept.getAsDouble()),
              () -> missing.add(row));
    }
    if (missing.isEmpty()) {
      return true;
    }
    Evaluation evaluation = evaluate(conditions, text, missing);
    if (!evaluation.complete()) {
      return false;
    }
    for (TableRow row : missing) {
      double value = perplexity(evaluation, conditions.model().resolve(row.cache()));
      found.put(key(row, text, conditions.request()), value);
      conditions.journal().put(key(row, text, conditions.request()), new JsonPrimitive(value));
    }
    return true;
  }

  private Evaluation evaluate(Conditions conditions, TextColumn text, List<TableRow> missing) {
    int context = conditions.context(fullContext, QUICK_CONTEXT);
    EvaluationSettings settings =
        new EvaluationSettings(
                missing.stream().map(TableRow::cache).toList(),
                EnumSet.of(Task.PPL),
                List.of(context),
                1,
                1,
                conditions.request().seed())
            .untimed();
    Sources sources =
        Sources.bundled(conditions.request().bundledModel())
            .withText(text.label(), content(conditions.request().data(), text));
    return new CacheEvaluator(conditions.model(), settings, sources).run(conditions.listener());
  }

  private static double perplexity(Evaluation evaluation, CacheSpec spec) {
    return evaluation.rows().stream()
        .filter(row -> row.spec().equals(spec.text()))
        .map(PerplexityTable::perplexity)
        .findFirst()
        .orElse(Double.NaN);
  }

  private static double perplexity(Row row) {
    return row.scores().get(Task.PPL).estimate().value();
  }

  private static String content(Optional<Path> data, TextColumn text) {
    if (data.isEmpty()) {
      return Novel.start(QUICK_CONTEXT);
    }
    try {
      return Files.readString(data.get().resolve(text.file()));
    } catch (IOException e) {
      throw new InvalidInputException(
          "%s: cannot be read as UTF-8".formatted(data.get().resolve(text.file())), e);
    }
  }
}
