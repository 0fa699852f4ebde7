package dev.kvasir.lab.work;

import java.util.HashMap;
import java.util.Map;
import java.util.function.ObjIntConsumer;

/** Hands results on in the order of their pieces, whichever was finished first. */
public final class InOrder<R> implements Runner.Delivery<R> {
  private final ObjIntConsumer<R> next;
  private final Map<Integer, R> early = new HashMap<>();
  private int taken;

  /**
   * @param next takes each result and its piece's place, from 0 on and without a gap
   */
  public InOrder(ObjIntConsumer<R> next) {
    this.next = next;
  }

  @Override
  public void take(int piece, R result) {
    early.put(piece, result);
    while (early.containsKey(taken)) {
      next.accept(early.remove(taken), taken);
      taken++;
    }
  }
}
