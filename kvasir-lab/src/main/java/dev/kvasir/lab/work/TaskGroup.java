package dev.kvasir.lab.work;

import dev.kvasir.lab.ProgressListener;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

/**
 * Tasks whose results are reduced together. The reducer runs once all results are present and gets
 * them in task order, so nothing depends on which task finishes first.
 */
public final class TaskGroup<R extends Serializable> {
  private final List<? extends LabTask<R>> tasks;
  private final Consumer<List<R>> reducer;
  private final List<R> results;
  private int missing;

  /**
   * @param reducer receives the results of all tasks
   */
  public TaskGroup(List<? extends LabTask<R>> tasks, Consumer<List<R>> reducer) {
    this.tasks = List.copyOf(tasks);
    this.reducer = reducer;
    this.results = new ArrayList<>(Collections.nCopies(tasks.size(), null));
    this.missing = tasks.size();
  }

  public static <R extends Serializable> TaskGroup<R> of(LabTask<R> task, Consumer<R> reducer) {
    return new TaskGroup<>(List.of(task), results -> reducer.accept(results.getFirst()));
  }

  /** Returns the cost of all tasks, relative to a prefilled token. */
  public static double cost(List<TaskGroup<?>> groups) {
    return groups.stream().flatMap(group -> group.tasks.stream()).mapToDouble(LabTask::cost).sum();
  }

  /** Runs the tasks of all groups, in order where the runner is sequential. */
  public static boolean run(List<TaskGroup<?>> groups, Runner runner, ProgressListener listener) {
    List<LabTask<?>> tasks = new ArrayList<>();
    List<Consumer<Serializable>> handlers = new ArrayList<>(); // by task
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

  @SuppressWarnings("unchecked") // the result belongs to the task at this index
  private void take(int task, Serializable result) {
    results.set(task, (R) result);
    if (--missing == 0) {
      reducer.accept(results);
    }
  }
}
