package dev.kvasir.lab.gradient;

import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.work.LabTask;
import dev.kvasir.lab.work.PartListener;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.lab.work.WorkCancelledException;
import java.io.Serializable;
import java.util.List;

/** Runs traced tasks with a decoder that belongs to no model, the last task first. */
public record DecoderRunner(TracedDecoder decoder) implements Runner {
  @Override
  public <R extends Serializable> boolean run(
      List<? extends LabTask<? extends R>> tasks, ProgressListener listener, Delivery<R> delivery) {
    double total = tasks.stream().mapToDouble(LabTask::cost).sum();
    double before = 0;
    for (int i = tasks.size() - 1; i >= 0; i--) {
      TracedTask<? extends R> task = (TracedTask<? extends R>) tasks.get(i);
      try {
        PartListener part = new PartListener(listener, before, task.cost(), total);
        delivery.take(i, task.run(decoder, part));
      } catch (WorkCancelledException e) {
        return false;
      }
      before += task.cost();
    }
    return true;
  }
}
