package dev.kvasir.server.http;

import dev.kvasir.server.answer.Answer;
import dev.kvasir.server.answer.AnswerEvent;
import dev.kvasir.server.answer.AnswerRequest;
import dev.kvasir.server.answer.Answers;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import dev.kvasir.server.openai.Reply;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Answers a request of one of the interfaces, piece by piece or whole. */
final class AnswerEndpoint implements Endpoint {
  /** Whoever waits this long for an answer hears that it is coming, or is found to be gone. */
  static final long PING_SECONDS = 1;

  private final Answers answers;
  private final LastWords writing;
  private final Function<Fields, AnswerRequest> reader;
  private final Function<Fields, Reply> replies;

  AnswerEndpoint(
      Answers answers,
      LastWords writing,
      Function<Fields, AnswerRequest> reader,
      Function<Fields, Reply> replies) {
    this.answers = answers;
    this.writing = writing;
    this.reader = reader;
    this.replies = replies;
  }

  @Override
  public void handle(Exchange exchange) throws IOException, InterruptedException {
    Fields fields = exchange.body();
    AnswerRequest request = reader.apply(fields).of(exchange.tenant());
    Reply reply = replies.apply(fields);
    try (LastWords.Unfinished _ = writing.begin()) {
      answer(
          request,
          fields.isTrue("stream")
              ? streamed(exchange, fields, reply)
              : new WholeAnswer(exchange, reply));
    }
  }

  private static AnswerWriter streamed(Exchange exchange, Fields fields, Reply reply) {
    boolean wantsUsage =
        fields.object("stream_options").filter(o -> o.isTrue("include_usage")).isPresent();
    return new StreamedAnswer(new EventStream(exchange), reply, wantsUsage);
  }

  private void answer(AnswerRequest request, AnswerWriter writer)
      throws IOException, InterruptedException {
    Answer answer = begin(request, writer);
    try {
      follow(answer, writer);
    } catch (ApiException e) {
      answer.stop(Answer.Stop.CLIENT_GONE);
      writer.refuse(e);
    } catch (IOException | InterruptedException | RuntimeException e) {
      answer.stop(Answer.Stop.CLIENT_GONE);
      throw e;
    }
  }

  private static void follow(Answer answer, AnswerWriter writer)
      throws IOException, InterruptedException {
    int left = answer.choices();
    while (left > 0) {
      AnswerEvent event = answer.next(PING_SECONDS, TimeUnit.SECONDS);
      switch (event) {
        case null -> writer.idle("working");
        case AnswerEvent.Failed failed -> throw failed.why();
        default -> writer.tell(event);
      }
      left -= event instanceof AnswerEvent.Done ? 1 : 0;
    }
    writer.end(answer.promptTokens());
  }

  private Answer begin(AnswerRequest request, AnswerWriter writer) throws IOException {
    try {
      return answers.begin(request, () -> tellWaiting(writer));
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private static void tellWaiting(AnswerWriter writer) {
    try {
      writer.idle("waiting");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
