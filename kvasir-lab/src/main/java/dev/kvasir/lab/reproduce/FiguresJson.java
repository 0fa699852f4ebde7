package dev.kvasir.lab.reproduce;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import dev.kvasir.lab.report.Provenance;
import dev.kvasir.lab.reproduce.Figures.Cell;
import dev.kvasir.lab.reproduce.Figures.Line;
import java.util.List;

/** Figures as JSON, with those of the paper for all its models. */
public final class FiguresJson {
  private FiguresJson() {}

  /**
   * @param model name of the model from its file
   */
  public static String of(PaperTable table, Figures figures, String model, Provenance provenance) {
    JsonObject all = new JsonObject();
    all.addProperty("paper", table.paper().title());
    all.addProperty("table", table.caption());
    all.addProperty("title", table.title());
    all.addProperty("model", model);
    all.addProperty("command", provenance.command());
    all.addProperty("version", provenance.version());
    provenance.commit().ifPresent(commit -> all.addProperty("commit", commit));
    all.addProperty("date", provenance.date());
    all.add("columns", strings(figures.columns()));
    all.add("rows", rows(figures.lines()));
    all.add("notes", strings(figures.notes()));
    table.published().ifPresent(published -> all.add("published", published(published)));
    return new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create().toJson(all) + "\n";
  }

  private static JsonObject published(Published published) {
    JsonObject all = new JsonObject();
    all.add("columns", strings(published.columns()));
    JsonObject models = new JsonObject();
    published.models().forEach(part -> models.add(part.model(), rows(part.lines())));
    all.add("models", models);
    return all;
  }

  private static JsonArray rows(List<Line> lines) {
    JsonArray rows = new JsonArray();
    for (Line line : lines) {
      JsonObject row = new JsonObject();
      row.addProperty("label", line.label());
      if (!line.detail().isEmpty()) {
        row.addProperty("cache", line.detail());
      }
      JsonArray cells = new JsonArray();
      JsonArray deviations = new JsonArray();
      for (Cell cell : line.cells()) {
        cells.add(number(cell.value()));
        deviations.add(number(cell.deviation()));
      }
      row.add("cells", cells);
      if (line.cells().stream().anyMatch(cell -> !Double.isNaN(cell.deviation()))) {
        row.add("deviations", deviations);
      }
      rows.add(row);
    }
    return rows;
  }

  private static JsonElement number(double value) {
    return Double.isFinite(value) ? new JsonPrimitive(value) : JsonNull.INSTANCE;
  }

  private static JsonArray strings(List<String> texts) {
    JsonArray all = new JsonArray();
    texts.forEach(all::add);
    return all;
  }
}
