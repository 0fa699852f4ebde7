package dev.kvasir.lab.eval;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.work.LabTask;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.runtime.LoadedModel;
import java.io.Serializable;
import java.util.List;
import java.util.Map;

/**
 * Reads a text into the caches of a few rows.
 *
 * @param rows the reference first
 */
record StreamTask(List<CandidateCache> rows, StreamText text, Prefill prefill)
    implements LabTask<StreamTask.StreamScores> {

  /**
   * The results by row.
   *
   * @param footprints empty if the text does not measure footprints
   */
  record StreamScores(List<Map<Task, Score>> scores, List<Footprint> footprints)
      implements Serializable {}

  @Override
  public String name() {
    return "%s with %s"
        .formatted(text.measuresFootprint() ? "the text" : "the book", TaskNames.of(rows));
  }

  @Override
  public double cost() {
    return rows.size() * text.cost();
  }

  @Override
  public long peakBytes(LoadedModel model) {
    return rows.stream().mapToLong(row -> row.peakBytes(model, text.tokens(), prefill)).sum();
  }

  @Override
  public StreamScores run(WorkerContext context, ProgressListener listener) {
    ProgressCounter progress = new ProgressCounter(listener, cost());
    return new StreamRun(
            context.model(), new BatchRunner(context.model(), prefill, progress), text, progress)
        .run(rows);
  }
}
