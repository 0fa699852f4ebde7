package dev.kvasir.lab.reproduce;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.lab.dataset.Item;
import dev.kvasir.lab.eval.GenerationRequest;
import dev.kvasir.lab.reproduce.Figures.Cell;
import dev.kvasir.lab.reproduce.Figures.Line;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A table of scores: each row is a cache, each column the mean score of data sets. Answers are kept
 * in the journal, by row and data set.
 */
record AnswerTable(List<TableRow> rows, List<AnswerColumn> columns, Answering answering)
    implements Procedure {
  /** Rows that answer together and share the prefill of prompts. */
  private static final int ROWS_AT_ONCE = 4;

  @Override
  public List<String> needs() {
    return sources().stream().map(ItemSource::need).flatMap(Optional::stream).distinct().toList();
  }

  private Set<ItemSource> sources() {
    Set<ItemSource> sources = new LinkedHashSet<>();
    columns.forEach(column -> sources.addAll(column.sources()));
    return sources;
  }

  @Override
  public void check(Request request) {
    sources().forEach(source -> source.check(request));
  }

  @Override
  public Optional<Figures> run(Conditions conditions) {
    return new Run(conditions).figures();
  }

  /** The answers of a row to a data set, by item. */
  private record RowOfSource(TableRow row, ItemSource source) {}

  private final class Run {
    private final Conditions conditions;
    private final PromptTokens prompts;
    private final List<TableRow> possible = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private final Map<ItemSource, List<Item>> items = new HashMap<>();
    private final Map<RowOfSource, List<List<String>>> answers = new HashMap<>();

    Run(Conditions conditions) {
      this.conditions = conditions;
      this.prompts = new PromptTokens(conditions.model(), conditions.request().bundledModel());
      for (TableRow row : PaperCaches.suited(rows, conditions.model())) {
        Optional<String> obstacle = row.obstacle(conditions.model());
        obstacle.ifPresentOrElse(notes::add, () -> possible.add(row));
      }
      sources().forEach(source -> items.put(source, source.items(conditions)));
    }

    Optional<Figures> figures() {
      int part = 0;
      int groups = Math.ceilDiv(possible.size(), ROWS_AT_ONCE);
      int parts = groups * items.size();
      for (ItemSource source : sources()) {
        for (int group = 0; group < groups; group++) {
          int from = group * ROWS_AT_ONCE;
          List<TableRow> some =
              possible.subList(from, Math.min(from + ROWS_AT_ONCE, possible.size()));
          if (!answer(source, some, new PartProgress(conditions.listener(), part++, parts))) {
            return Optional.empty();
          }
        }
      }
      if (prompts.shortened() > 0) {
        notes.add(
            "%d prompts lost their middle, because the model's context holds %d tokens"
                .formatted(prompts.shortened(), conditions.model().config().contextLength()));
      }
      List<String> names = columns.stream().map(AnswerColumn::label).toList();
      return Optional.of(
          new Figures(
              names,
              PaperCaches.suited(rows, conditions.model()).stream().map(this::line).toList(),
              notes));
    }

    private String key(TableRow row, ItemSource source) {
      return "%s, %s, %s".formatted(row.spec(), source.key(conditions.request()), answering);
    }

    /** Generates the answers that the journal lacks; false if cancelled. */
    private boolean answer(ItemSource source, List<TableRow> some, PartProgress progress) {
      if (items.get(source).isEmpty()) {
        return true;
      }
      List<TableRow> missing = new ArrayList<>();
      for (TableRow row : some) {
        conditions
            .journal()
            .part(key(row, source))
            .ifPresentOrElse(
                kept -> answers.put(new RowOfSource(row, source), fromJson(kept)),
                () -> missing.add(row));
      }
      if (missing.isEmpty()) {
        return true;
      }
      List<GenerationRequest> requests = items.get(source).stream().map(prompts::request).toList();
      List<CacheSpec> caches = missing.stream().map(TableRow::cache).toList();
      Optional<List<List<List<String>>>> found =
          answering
              .batches(conditions.request())
              .answer(conditions.model(), source.name(), caches, requests, progress);
      found.ifPresent(
          texts -> {
            for (int i = 0; i < missing.size(); i++) {
              answers.put(new RowOfSource(missing.get(i), source), texts.get(i));
              conditions.journal().put(key(missing.get(i), source), toJson(texts.get(i)));
            }
          });
      return found.isPresent();
    }

    private Line line(TableRow row) {
      List<Cell> cells = columns.stream().map(column -> cell(row, column)).toList();
      return new Line(row.label(), row.spec(), cells);
    }

    /** Returns the mean over data sets with answers; only a quick run lacks some. */
    private Cell cell(TableRow row, AnswerColumn column) {
      List<Cell> scores =
          column.sources().stream()
              .map(
                  source ->
                      AnswerScore.of(
                          items.get(source),
                          answers.getOrDefault(new RowOfSource(row, source), List.of()),
                          column))
              .toList();
      return scores.size() == 1
          ? scores.getFirst()
          : Cell.of(
              scores.stream()
                  .filter(score -> !score.isEmpty())
                  .mapToDouble(Cell::value)
                  .average()
                  .orElse(Double.NaN));
    }
  }

  private static JsonElement toJson(List<List<String>> texts) {
    JsonArray all = new JsonArray();
    for (List<String> some : texts) {
      JsonArray answers = new JsonArray();
      some.forEach(answers::add);
      all.add(answers);
    }
    return all;
  }

  private static List<List<String>> fromJson(JsonElement kept) {
    return kept.getAsJsonArray().asList().stream()
        .map(some -> some.getAsJsonArray().asList().stream().map(JsonElement::getAsString).toList())
        .toList();
  }
}
