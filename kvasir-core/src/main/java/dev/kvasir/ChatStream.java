package dev.kvasir;

import dev.kvasir.chat.Completion;
import dev.kvasir.chat.CompletionEvent;
import dev.kvasir.chat.CompletionRequest;
import dev.kvasir.chat.Ids;
import dev.kvasir.chat.RequestQueue;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * One completion as a stream of events, which ends with {@link ChatEvent.Done}. It starts when it
 * is first read, and can be read once: by {@link #run} or by iterating. One thread reads it; any
 * thread may cancel it.
 *
 * <p>Reading throws {@link KvasirException} if the completion fails, and {@link
 * CancellationException} if it was cancelled or its thread was interrupted.
 */
public final class ChatStream implements Iterable<ChatEvent>, AutoCloseable {
  private final RequestQueue queue;
  private final CompletionRequest request;
  private final String model;
  private final String id = Ids.newId("chatcmpl-");
  private final AtomicBoolean started = new AtomicBoolean();
  private final StringBuilder text = new StringBuilder();
  private final StringBuilder reasoning = new StringBuilder();
  private final List<ToolCall> toolCalls = new ArrayList<>();
  private final List<TokenLogprob> logprobs = new ArrayList<>();
  private volatile Completion completion; // null until it was admitted
  private volatile boolean cancelled;

  ChatStream(RequestQueue queue, CompletionRequest request, String model) {
    this.queue = queue;
    this.request = request;
    this.model = model;
  }

  public String id() {
    return id;
  }

  /** Returns the model name, including the cache spec unless it is the default. */
  public String model() {
    return model;
  }

  /**
   * Passes all events to a listener on this thread, and returns the response. An exception from the
   * listener ends the completion.
   */
  public ChatResponse run(Consumer<? super ChatEvent> listener) {
    start();
    try {
      while (true) {
        ChatEvent event = next();
        listener.accept(event);
        if (event instanceof ChatEvent.Done(ChatResponse response)) {
          return response;
        }
      }
    } catch (RuntimeException | Error e) {
      stop();
      throw e;
    }
  }

  /** Returns the events, each of which is awaited when it is asked for. */
  @Override
  public Iterator<ChatEvent> iterator() {
    start();
    return new Iterator<>() {
      private boolean done;

      @Override
      public boolean hasNext() {
        return !done;
      }

      @Override
      public ChatEvent next() {
        if (done) {
          throw new NoSuchElementException();
        }
        done = true; // unless another event may follow
        ChatEvent event = ChatStream.this.next();
        done = event instanceof ChatEvent.Done;
        return event;
      }
    };
  }

  private void start() {
    if (!started.compareAndSet(false, true)) {
      throw new IllegalStateException("this stream has been read; ask for another one");
    }
  }

  /** Waits for admission at first, then for the next event. */
  private ChatEvent next() {
    try {
      if (completion == null) {
        completion = queue.begin(request, this::checkCancelled);
      }
      while (true) {
        checkCancelled();
        CompletionEvent event = completion.next(1, TimeUnit.SECONDS);
        checkCancelled();
        if (event != null) {
          return converted(event);
        }
      }
    } catch (InterruptedException e) {
      stop();
      Thread.currentThread().interrupt();
      throw new CancellationException("the thread was interrupted");
    } catch (RuntimeException | Error e) {
      stop();
      throw e;
    }
  }

  private ChatEvent converted(CompletionEvent event) {
    return switch (event) {
      case CompletionEvent.PrefillProgress progress ->
          new ChatEvent.Prefill(progress.done(), progress.total());
      case CompletionEvent.Text piece -> {
        text.append(piece.text());
        logprobs.addAll(piece.logprobs());
        yield new ChatEvent.Text(piece.text(), piece.logprobs());
      }
      case CompletionEvent.Reasoning piece -> {
        reasoning.append(piece.text());
        yield new ChatEvent.Reasoning(piece.text());
      }
      case CompletionEvent.ToolCallStart started ->
          new ChatEvent.CallStart(started.index(), started.id(), started.name());
      case CompletionEvent.ToolCallArguments piece ->
          new ChatEvent.CallArguments(piece.index(), piece.json());
      case CompletionEvent.ToolCall made -> {
        ToolCall toolCall = new ToolCall(made.id(), made.name(), made.arguments());
        toolCalls.add(toolCall);
        yield new ChatEvent.Call(made.index(), toolCall);
      }
      case CompletionEvent.Done done -> new ChatEvent.Done(response(done));
      case CompletionEvent.Failed failed -> throw failed.cause();
    };
  }

  private ChatResponse response(CompletionEvent.Done done) {
    return new ChatResponse(
        id,
        model,
        text.toString(),
        reasoning.toString(),
        toolCalls,
        logprobs,
        done.finishReason(),
        new ChatResponse.TokenUsage(
            request.prompt().length,
            done.prefixHit().tokens(),
            done.generation().generatedTokens(),
            done.generation().drafts()));
  }

  private void checkCancelled() {
    if (cancelled) {
      throw new CancellationException("the answer was cancelled");
    }
  }

  private void stop() {
    Completion begun = completion;
    if (begun != null) {
      begun.stop(Completion.StopCause.CANCELLED);
    }
  }

  /** Stops the completion before its next token; whoever reads it gets an exception. */
  public void cancel() {
    cancelled = true;
    stop();
  }

  public boolean isCancelled() {
    return cancelled;
  }

  /** Stops the completion unless it has ended. */
  @Override
  public void close() {
    stop();
  }
}
