package dev.kvasir.server;

import dev.kvasir.server.answer.Answer;
import dev.kvasir.server.answer.AnswerEvent;
import dev.kvasir.server.answer.AnswerRequest;
import dev.kvasir.server.answer.Answers;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.openai.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;

/** One answer within this process: run on the thread that wants it, cancelled from any. */
public final class LocalAnswer {
  private final Answers answers;
  private final AnswerRequest request;
  private final String model;
  private final String id = Reply.newId("chatcmpl-");
  private final StringBuilder text = new StringBuilder();
  private final StringBuilder reasoning = new StringBuilder();
  private final List<Call> calls = new ArrayList<>();
  private volatile Answer answer;
  private volatile boolean cancelled;

  LocalAnswer(Answers answers, AnswerRequest request, String model) {
    this.answers = answers;
    this.request = request;
    this.model = model;
  }

  /**
   * A call of a function that the model asks for.
   *
   * @param index of the call within the answer
   * @param arguments a JSON object
   */
  public record Call(int index, String id, String name, String arguments) {}

  /** Told of an answer as it comes, on the thread that runs it. */
  public interface Listener {
    default void text(String piece) {}

    default void reasoning(String piece) {}

    default void call(Call call) {}
  }

  /**
   * An answer that is done.
   *
   * @param model by the name that says its kind of cache
   * @param reasoning text between the tags of thinking; may be empty
   * @param reason in the interface's words: stop, length or tool_calls
   * @param knownTokens of the prompt that were not read again
   */
  public record Whole(
      String id,
      String model,
      String text,
      String reasoning,
      List<Call> calls,
      String reason,
      int promptTokens,
      int knownTokens,
      int generatedTokens) {}

  public String id() {
    return id;
  }

  public String model() {
    return model;
  }

  /**
   * Waits for room, then for the answer. What the listener throws ends it.
   *
   * @throws ApiException where it cannot be given
   * @throws CancellationException where it was cancelled, or its thread interrupted
   */
  public Whole run(Listener listener) {
    Answer begun = answers.begin(request, this::checkCancelled);
    answer = begun;
    try {
      checkCancelled();
      while (true) {
        AnswerEvent event = begun.next(1, TimeUnit.SECONDS);
        checkCancelled();
        if (event instanceof AnswerEvent.Done done) {
          return whole(done);
        }
        tell(event, listener);
      }
    } catch (InterruptedException e) {
      begun.stop(Answer.Stop.CLIENT_GONE);
      Thread.currentThread().interrupt();
      throw new CancellationException("the thread was interrupted");
    } catch (RuntimeException | Error e) {
      begun.stop(Answer.Stop.CLIENT_GONE);
      throw e;
    }
  }

  private void tell(AnswerEvent event, Listener listener) {
    switch (event) {
      case null -> {}
      case AnswerEvent.Text piece -> {
        text.append(piece.text());
        listener.text(piece.text());
      }
      case AnswerEvent.Reasoning piece -> {
        reasoning.append(piece.text());
        listener.reasoning(piece.text());
      }
      case AnswerEvent.ToolCall made -> {
        Call call = new Call(made.index(), Reply.newId("call_"), made.name(), made.arguments());
        calls.add(call);
        listener.call(call);
      }
      case AnswerEvent.Reading reading -> {}
      case AnswerEvent.Done done -> {}
      case AnswerEvent.Failed failed -> throw failed.why();
    }
  }

  private Whole whole(AnswerEvent.Done done) {
    return new Whole(
        id,
        model,
        text.toString(),
        reasoning.toString(),
        List.copyOf(calls),
        done.reason(),
        request.prompt().length,
        done.known().tokens(),
        done.generation().generatedTokens());
  }

  private void checkCancelled() {
    if (cancelled) {
      throw new CancellationException("the answer was cancelled");
    }
  }

  /** Ends it before the next token; {@link #run} then throws. */
  public void cancel() {
    cancelled = true;
    Answer begun = answer;
    if (begun != null) {
      begun.stop(Answer.Stop.CLIENT_GONE);
    }
  }

  public boolean isCancelled() {
    return cancelled;
  }
}
