package dev.kvasir.lab.work;

import dev.kvasir.lab.WorkListener;
import java.io.Serializable;
import java.util.List;

/**
 * Runs pieces in this process, one after another in their order, each with all its threads; those
 * of one thread side by side.
 */
public final class LocalRunner implements Runner {
  private final Worksite site;

  public LocalRunner(Worksite site) {
    this.site = site;
  }

  @Override
  public <R extends Serializable> boolean run(
      List<? extends Piece<? extends R>> pieces, WorkListener listener, Delivery<R> delivery) {
    if (!pieces.isEmpty() && pieces.stream().allMatch(Piece::single)) {
      return new SideBySide<R>(pieces, listener, delivery).run(site);
    }
    double inAll = pieces.stream().mapToDouble(Piece::work).sum();
    double before = 0;
    for (int i = 0; i < pieces.size(); i++) {
      Piece<? extends R> piece = pieces.get(i);
      listener.doing(piece.name());
      R result;
      try {
        result = piece.run(site, new PartListener(listener, before, piece.work(), inAll));
      } catch (Stopped e) {
        return false;
      }
      delivery.take(i, result);
      before += piece.work();
    }
    return true;
  }
}
