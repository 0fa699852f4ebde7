package dev.kvasir.lab.work;

import dev.kvasir.lab.ProgressListener;
import java.io.Serializable;
import java.util.List;

/**
 * Runs tasks in this process. Tasks run in order, each with all threads; single-threaded tasks run
 * in parallel.
 */
public final class LocalRunner implements Runner {
  private final WorkerContext context;

  public LocalRunner(WorkerContext context) {
    this.context = context;
  }

  @Override
  public <R extends Serializable> boolean run(
      List<? extends LabTask<? extends R>> tasks, ProgressListener listener, Delivery<R> delivery) {
    if (!tasks.isEmpty() && tasks.stream().allMatch(LabTask::singleThreaded)) {
      return new ParallelRun<R>(tasks, listener, delivery).run(context);
    }
    double total = tasks.stream().mapToDouble(LabTask::cost).sum();
    double before = 0;
    for (int i = 0; i < tasks.size(); i++) {
      LabTask<? extends R> task = tasks.get(i);
      listener.status(task.name());
      R result;
      try {
        result = task.run(context, new PartListener(listener, before, task.cost(), total));
      } catch (WorkCancelledException e) {
        return false;
      }
      delivery.take(i, result);
      before += task.cost();
    }
    return true;
  }
}
