package dev.kvasir.lab.work;

import dev.kvasir.lab.ProgressListener;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

/**
 * Pieces whose results make something together. They are handed over once all are there, in the
 * order of the pieces, so that nothing depends on which was finished first.
 */
public final class TaskGroup<R extends Serializable> {
  private final List<? extends LabTask<R>> tasks;
  private final Consumer<List<R>> reducer;
  private final List<R> results;
  private int missing;

  /**
   * @param whole takes the results of all pieces
   */
  public TaskGroup(List<? extends LabTask<R>> tasks, Consumer<List<R>> reducer) {
    this.tasks = List.copyOf(tasks);
    this.reducer = reducer;
    this.results = new ArrayList<>(Collections.nCopies(tasks.size(), null));
    this.missing = tasks.size();
  }

  /** One piece, whose result is of use by itself. */
  public static <R extends Serializable> TaskGroup<R> of(LabTask<R> task, Consumer<R> reducer) {
    return new TaskGroup<>(List.of(task), results -> reducer.accept(results.getFirst()));
  }

  /** Runs the pieces of all bundles, in their order where they run one by one. */
  public static boolean run(List<TaskGroup<?>> groups, Runner runner, ProgressListener listener) {
    List<LabTask<?>> tasks = new ArrayList<>();
    List<Consumer<Serializable>> handlers = new ArrayList<>(); // of each piece's result
    for (TaskGroup<?> group : groups) {
      for (int i = 0; i < group.tasks.size(); i++) {
        int index = i;
        tasks.add(group.tasks.get(i));
        handlers.add(result -> group.take(index, result));
      }
    }
    return runner.<Serializable>run(
        tasks, listener, (task, result) -> handlers.get(task).accept(result));
  }

  @SuppressWarnings("unchecked") // the result is that of the piece at this place
  private void take(int task, Serializable result) {
    results.set(task, (R) result);
    if (--missing == 0) {
      reducer.accept(results);
    }
  }
}
