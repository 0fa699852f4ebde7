package dev.kvasir.lab.gradient;

import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.work.LabTask;
import dev.kvasir.lab.work.PartListener;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.lab.work.WorkCancelledException;
import java.io.Serializable;
import java.util.List;

/** Runs traced pieces with a decoder that no model belongs to, the last piece first. */
public record DecoderRunner(TracedDecoder decoder) implements Runner {
  @Override
  public <R extends Serializable> boolean run(
      List<? extends LabTask<? extends R>> pieces,
      ProgressListener listener,
      Delivery<R> delivery) {
    double inAll = pieces.stream().mapToDouble(LabTask::cost).sum();
    double before = 0;
    for (int i = pieces.size() - 1; i >= 0; i--) {
      TracedTask<? extends R> piece = (TracedTask<? extends R>) pieces.get(i);
      try {
        PartListener part = new PartListener(listener, before, piece.cost(), inAll);
        delivery.take(i, piece.run(decoder, part));
      } catch (WorkCancelledException e) {
        return false;
      }
      before += piece.cost();
    }
    return true;
  }
}
