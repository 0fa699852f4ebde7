package dev.kvasir.lab.report;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.Footprint;
import dev.kvasir.lab.eval.Row;
import dev.kvasir.lab.eval.Score;
import dev.kvasir.lab.eval.Task;
import java.nio.file.Path;

/** The file with what was measured for a model. The automatic choice of a cache goes by it. */
public final class FiguresFile {
  private FiguresFile() {}

  /**
   * Writes the divergence and the speed of all rows but the reference.
   *
   * @param evaluation with the task {@link Task#KLD}
   */
  public static void write(Path file, Evaluation evaluation, Provenance provenance) {
    JsonObject all = new JsonObject();
    all.addProperty("source", "'kvasir compare' on this model, %s".formatted(provenance.date()));
    all.addProperty("model", evaluation.model());
    all.addProperty("command", provenance.command());
    all.addProperty("version", provenance.version());
    provenance.commit().ifPresent(commit -> all.addProperty("commit", commit));
    all.addProperty("machine", evaluation.machine());
    all.addProperty("text", evaluation.text());
    all.addProperty("context", evaluation.settings().longestContext());
    all.add("rows", rows(evaluation));
    AtomicFile.write(
        file,
        new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create().toJson(all) + "\n");
  }

  private static JsonArray rows(Evaluation evaluation) {
    JsonArray rows = new JsonArray();
    evaluation.rows().stream()
        .skip(1)
        .filter(row -> row.scores().get(Task.KLD) instanceof Score.Divergence)
        .map(row -> row(row, evaluation.reference().footprint()))
        .forEach(rows::add);
    return rows;
  }

  private static JsonObject row(Row row, Footprint reference) {
    Score.Divergence divergence = (Score.Divergence) row.scores().get(Task.KLD);
    JsonObject figures = new JsonObject();
    figures.addProperty("spec", row.spec());
    figures.addProperty("divergence", Math.max(0, divergence.estimate().value()));
    figures.addProperty("sameTop", divergence.sameTop().value());
    figures.addProperty("bitsPerValue", row.footprint().bitsPerValue());
    if (row.footprint().hasSpeed() && reference.hasSpeed()) {
      figures.addProperty("speed", row.footprint().tokensPerSecond() / reference.tokensPerSecond());
    }
    return figures;
  }
}
