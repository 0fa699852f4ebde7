package dev.kvasir;

import java.util.concurrent.CancellationException;
import java.util.concurrent.Flow;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/** Publishes a new completion to each subscriber, on a virtual thread. */
final class ChatPublisher implements Flow.Publisher<ChatEvent> {
  private final Supplier<ChatStream> streams;

  ChatPublisher(Supplier<ChatStream> streams) {
    this.streams = streams;
  }

  @Override
  public void subscribe(Flow.Subscriber<? super ChatEvent> subscriber) {
    ChatStream stream;
    try {
      stream = streams.get();
    } catch (KvasirException e) {
      subscriber.onSubscribe(NO_SUBSCRIPTION);
      subscriber.onError(e);
      return;
    }
    ChatSubscription subscription = new ChatSubscription(stream);
    subscriber.onSubscribe(subscription);
    Thread.ofVirtual().name("kvasir-stream").start(() -> subscription.run(subscriber));
  }

  private static final Flow.Subscription NO_SUBSCRIPTION =
      new Flow.Subscription() {
        @Override
        public void request(long count) {}

        @Override
        public void cancel() {}
      };

  /** Events wait until they are requested; the completion itself does not. */
  private static final class ChatSubscription implements Flow.Subscription {
    /** More than a completion ever has; beyond it nothing is counted. */
    private static final int MAX_DEMAND = 1 << 29;

    private final ChatStream stream;
    private final Semaphore demand = new Semaphore(0);
    private volatile boolean isUnbounded;
    private volatile boolean isInvalid;

    ChatSubscription(ChatStream stream) {
      this.stream = stream;
    }

    @Override
    public void request(long count) {
      if (count <= 0) {
        isInvalid = true;
        demand.release();
      } else if (count > MAX_DEMAND) {
        isUnbounded = true;
        demand.release();
      } else if (demand.availablePermits() < MAX_DEMAND) {
        demand.release((int) count);
      }
    }

    @Override
    public void cancel() {
      stream.cancel();
      demand.release();
    }

    void run(Flow.Subscriber<? super ChatEvent> subscriber) {
      try {
        stream.run(
            event -> {
              awaitDemand();
              subscriber.onNext(event);
            });
        subscriber.onComplete();
      } catch (CancellationException e) {
        // A cancelled subscription is not notified any further.
      } catch (RuntimeException e) {
        subscriber.onError(e);
      }
    }

    private void awaitDemand() {
      if (!isUnbounded) {
        demand.acquireUninterruptibly();
      }
      if (isInvalid) {
        throw new IllegalArgumentException("the demand is not positive; expected at least 1");
      }
      if (stream.isCancelled()) {
        throw new CancellationException("the subscription was cancelled");
      }
    }
  }
}
