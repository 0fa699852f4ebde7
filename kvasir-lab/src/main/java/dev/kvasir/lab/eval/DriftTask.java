package dev.kvasir.lab.eval;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.work.LabTask;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.runtime.LoadedModel;
import java.io.Serializable;
import java.util.List;

/**
 * Openings that are continued in the caches of a few rows.
 *
 * @param rows the reference first
 * @param openings openings of equal length
 * @param part which of the openings these are, for the task name
 */
record DriftTask(List<CandidateCache> rows, List<Opening> openings, String part, Prefill prefill)
    implements LabTask<DriftTask.DriftSamples> {

  /**
   * How far rows were from the reference.
   *
   * @param divergences KL divergence by opening: (tokens, rows)
   * @param sameTop whether the most likely token was that of the reference: (tokens, rows)
   */
  record DriftSamples(List<double[][]> divergences, List<boolean[][]> sameTop)
      implements Serializable {}

  @Override
  public String name() {
    return "drift with %s%s".formatted(TaskNames.of(rows), part);
  }

  @Override
  public double cost() {
    return rows.size() * openings.stream().mapToDouble(Opening::cost).sum();
  }

  @Override
  public long peakBytes(LoadedModel model) {
    int tokens = openings.getFirst().maxLength();
    return openings.size()
        * rows.stream().mapToLong(row -> row.peakBytes(model, tokens, prefill)).sum();
  }

  @Override
  public DriftSamples run(WorkerContext context, ProgressListener listener) {
    ProgressCounter progress = new ProgressCounter(listener, cost());
    return new DriftRun(
            context.model(),
            new BatchRunner(context.model(), prefill, progress),
            openings,
            progress)
        .run(rows);
  }
}
