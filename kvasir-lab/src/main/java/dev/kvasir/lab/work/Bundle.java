package dev.kvasir.lab.work;

import dev.kvasir.lab.WorkListener;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

/**
 * Pieces whose results make something together. They are handed over once all are there, in the
 * order of the pieces, so that nothing depends on which was finished first.
 */
public final class Bundle<R extends Serializable> {
  private final List<? extends Piece<R>> pieces;
  private final Consumer<List<R>> whole;
  private final List<R> results;
  private int missing;

  /**
   * @param whole takes the results of all pieces
   */
  public Bundle(List<? extends Piece<R>> pieces, Consumer<List<R>> whole) {
    this.pieces = List.copyOf(pieces);
    this.whole = whole;
    this.results = new ArrayList<>(Collections.nCopies(pieces.size(), null));
    this.missing = pieces.size();
  }

  /** One piece, whose result is of use by itself. */
  public static <R extends Serializable> Bundle<R> of(Piece<R> piece, Consumer<R> whole) {
    return new Bundle<>(List.of(piece), results -> whole.accept(results.getFirst()));
  }

  /** Runs the pieces of all bundles, in their order where they run one by one. */
  public static boolean run(List<Bundle<?>> bundles, Runner runner, WorkListener listener) {
    List<Piece<?>> pieces = new ArrayList<>();
    List<Consumer<Serializable>> takers = new ArrayList<>(); // of each piece's result
    for (Bundle<?> bundle : bundles) {
      for (int i = 0; i < bundle.pieces.size(); i++) {
        int place = i;
        pieces.add(bundle.pieces.get(i));
        takers.add(result -> bundle.take(place, result));
      }
    }
    return runner.<Serializable>run(
        pieces, listener, (piece, result) -> takers.get(piece).accept(result));
  }

  @SuppressWarnings("unchecked") // the result is that of the piece at this place
  private void take(int piece, Serializable result) {
    results.set(piece, (R) result);
    if (--missing == 0) {
      whole.accept(results);
    }
  }
}
