package dev.kvasir.hub;

import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/**
 * Passes the bytes of an answer on as they come. What came before a connection broke is kept, so
 * that the next request asks for the rest only.
 */
final class SinkBody implements BodySubscriber<Void> {
  /** Consumes bytes; an exception ends the answer. */
  @FunctionalInterface
  interface Sink {
    void accept(ByteBuffer bytes) throws IOException;
  }

  private final Sink sink;
  private final CompletableFuture<Void> done = new CompletableFuture<>();
  private Flow.Subscription subscription;

  SinkBody(Sink sink) {
    this.sink = sink;
  }

  /** Returns a body that ends an answer with an exception instead of reading it. */
  static SinkBody refusing(IOException reason) {
    return new SinkBody(
        bytes -> {
          throw reason;
        });
  }

  @Override
  public CompletionStage<Void> getBody() {
    return done;
  }

  @Override
  public void onSubscribe(Flow.Subscription given) {
    subscription = given;
    given.request(1);
  }

  @Override
  public void onNext(List<ByteBuffer> buffers) {
    try {
      for (ByteBuffer bytes : buffers) {
        sink.accept(bytes);
      }
      subscription.request(1);
    } catch (IOException | RuntimeException e) {
      subscription.cancel();
      done.completeExceptionally(e);
    }
  }

  @Override
  public void onError(Throwable cause) {
    done.completeExceptionally(cause);
  }

  @Override
  public void onComplete() {
    done.complete(null);
  }
}
