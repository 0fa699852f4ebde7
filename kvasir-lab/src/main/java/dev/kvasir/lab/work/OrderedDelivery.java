package dev.kvasir.lab.work;

import java.util.HashMap;
import java.util.Map;
import java.util.function.ObjIntConsumer;

/** Delivers results in task order, regardless of the order in which tasks finish. */
public final class OrderedDelivery<R> implements Runner.Delivery<R> {
  private final ObjIntConsumer<R> next;
  private final Map<Integer, R> pending = new HashMap<>();
  private int nextIndex;

  /**
   * @param next receives each result and the index of its task, from 0 on without gaps
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
