package dev.kvasir.lab.work;

import java.util.HashMap;
import java.util.Map;
import java.util.function.ObjIntConsumer;

/** Hands results on in the order of their pieces, whichever was finished first. */
public final class OrderedDelivery<R> implements Runner.Delivery<R> {
  private final ObjIntConsumer<R> next;
  private final Map<Integer, R> pending = new HashMap<>();
  private int nextIndex;

  /**
   * @param next takes each result and its piece's place, from 0 on and without a gap
   */
  public OrderedDelivery(ObjIntConsumer<R> next) {
    this.next = next;
  }

  @Override
  public void take(int task, R result) {
    pending.put(task, result);
    while (pending.containsKey(nextIndex)) {
      next.accept(pending.remove(nextIndex), nextIndex);
      nextIndex++;
    }
  }
}
