package dev.kvasir.server;

import dev.kvasir.chat.Completion;
import dev.kvasir.chat.CompletionEvent;
import dev.kvasir.chat.CompletionRequest;
import dev.kvasir.chat.Ids;
import dev.kvasir.chat.RequestQueue;
import dev.kvasir.server.api.ApiException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;

/** One chat completion in this process. The calling thread runs it; any thread may cancel it. */
public final class ChatCompletion {
  private final RequestQueue queue;
  private final CompletionRequest request;
  private final String model;
  private final String id = Ids.newId("chatcmpl-");
  private final StringBuilder text = new StringBuilder();
  private final StringBuilder reasoning = new StringBuilder();
  private final List<ToolCall> toolCalls = new ArrayList<>();
  private volatile Completion completion;
  private volatile boolean cancelled;

  ChatCompletion(RequestQueue queue, CompletionRequest request, String model) {
    this.queue = queue;
    this.request = request;
    this.model = model;
  }

  /**
   * A tool call that the model requests.
   *
   * @param index position of the call in the completion
   * @param arguments a JSON object
   */
  public record ToolCall(int index, String id, String name, String arguments) {}

  /** Receives a completion as it is generated, on the thread that runs it. */
  public interface Listener {
    default void text(String piece) {}

    default void reasoning(String piece) {}

    default void toolCall(ToolCall toolCall) {}
  }

  /**
   * A finished completion.
   *
   * @param model the model name, including the cache spec unless it is the default
   * @param reasoning text between the reasoning tags; may be empty
   * @param finishReason {@code stop}, {@code length} or {@code tool_calls}, as in the OpenAI API
   * @param cachedTokens prompt tokens that came from the prefix cache
   */
  public record Result(
      String id,
      String model,
      String text,
      String reasoning,
      List<ToolCall> toolCalls,
      String finishReason,
      int promptTokens,
      int cachedTokens,
      int generatedTokens) {}

  public String id() {
    return id;
  }

  public String model() {
    return model;
  }

  /**
   * Waits until the request is admitted, then generates the completion. An exception from the
   * listener ends it.
   *
   * @throws ApiException if the completion fails
   * @throws CancellationException if it was cancelled, or its thread was interrupted
   */
  public Result run(Listener listener) {
    Completion started = begin();
    completion = started;
    try {
      checkCancelled();
      while (true) {
        CompletionEvent event = started.next(1, TimeUnit.SECONDS);
        checkCancelled();
        if (event instanceof CompletionEvent.Done done) {
          return toResult(done);
        }
        dispatch(event, listener);
      }
    } catch (InterruptedException e) {
      started.stop(Completion.StopCause.CANCELLED);
      Thread.currentThread().interrupt();
      throw new CancellationException("the thread was interrupted");
    } catch (RuntimeException | Error e) {
      started.stop(Completion.StopCause.CANCELLED);
      throw e;
    }
  }

  private Completion begin() {
    try {
      return queue.begin(request, this::checkCancelled);
    } catch (dev.kvasir.ChatException e) {
      throw ApiException.of(e);
    }
  }

  private void dispatch(CompletionEvent event, Listener listener) {
    switch (event) {
      case null -> {}
      case CompletionEvent.Text piece -> {
        text.append(piece.text());
        listener.text(piece.text());
      }
      case CompletionEvent.Reasoning piece -> {
        reasoning.append(piece.text());
        listener.reasoning(piece.text());
      }
      case CompletionEvent.ToolCall made -> {
        ToolCall toolCall =
            new ToolCall(
                made.index(), Ids.newId("call_"), made.name(), made.arguments());
        toolCalls.add(toolCall);
        listener.toolCall(toolCall);
      }
      case CompletionEvent.PrefillProgress progress -> {}
      case CompletionEvent.Done done -> {}
      case CompletionEvent.Failed failed -> throw ApiException.of(failed.cause());
    }
  }

  private Result toResult(CompletionEvent.Done done) {
    return new Result(
        id,
        model,
        text.toString(),
        reasoning.toString(),
        List.copyOf(toolCalls),
        done.finishReason().name().toLowerCase(java.util.Locale.ROOT),
        request.prompt().length,
        done.prefixHit().tokens(),
        done.generation().generatedTokens());
  }

  private void checkCancelled() {
    if (cancelled) {
      throw new CancellationException("the answer was cancelled");
    }
  }

  /** Stops before the next token; {@link #run} then throws. */
  public void cancel() {
    cancelled = true;
    Completion started = completion;
    if (started != null) {
      started.stop(Completion.StopCause.CANCELLED);
    }
  }

  public boolean isCancelled() {
    return cancelled;
  }
}
