package dev.kvasir.lab.gradient;

import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.work.PartListener;
import dev.kvasir.lab.work.Piece;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.lab.work.Stopped;
import java.io.Serializable;
import java.util.List;

/** Runs traced pieces with a decoder that no model belongs to, the last piece first. */
public record DecoderRunner(TracedDecoder decoder) implements Runner {
  @Override
  public <R extends Serializable> boolean run(
      List<? extends Piece<? extends R>> pieces, WorkListener listener, Delivery<R> delivery) {
    double inAll = pieces.stream().mapToDouble(Piece::work).sum();
    double before = 0;
    for (int i = pieces.size() - 1; i >= 0; i--) {
      TracedPiece<? extends R> piece = (TracedPiece<? extends R>) pieces.get(i);
      try {
        PartListener part = new PartListener(listener, before, piece.work(), inAll);
        delivery.take(i, piece.run(decoder, part));
      } catch (Stopped e) {
        return false;
      }
      before += piece.work();
    }
    return true;
  }
}
