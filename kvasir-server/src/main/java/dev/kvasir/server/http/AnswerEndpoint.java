package dev.kvasir.server.http;

import dev.kvasir.server.answer.Answer;
import dev.kvasir.server.answer.AnswerEvent;
import dev.kvasir.server.answer.AnswerRequest;
import dev.kvasir.server.answer.Answers;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import dev.kvasir.server.openai.Reply;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Answers a request of one of the interfaces, piece by piece or whole. */
final class AnswerEndpoint implements Endpoint {
  /** Whoever waits this long for an answer hears that it is coming, or is found to be gone. */
  private static final long PING_SECONDS = 1;

  private final Answers answers;
  private final Function<Fields, AnswerRequest> reader;
  private final Function<Fields, Reply> replies;

  AnswerEndpoint(
      Answers answers, Function<Fields, AnswerRequest> reader, Function<Fields, Reply> replies) {
    this.answers = answers;
    this.reader = reader;
    this.replies = replies;
  }

  @Override
  public void handle(Exchange exchange) throws IOException, InterruptedException {
    Fields fields = exchange.body();
    AnswerRequest request = reader.apply(fields);
    Reply reply = replies.apply(fields);
    if (fields.isTrue("stream")) {
      boolean wantsUsage =
          fields.object("stream_options").filter(o -> o.isTrue("include_usage")).isPresent();
      stream(request, reply, wantsUsage, new EventStream(exchange));
    } else {
      whole(request, reply, exchange);
    }
  }

  private void stream(AnswerRequest request, Reply reply, boolean wantsUsage, EventStream stream)
      throws IOException, InterruptedException {
    Answer answer = begin(request, () -> stream.comment("waiting"));
    try {
      int left = answer.choices();
      while (left > 0) {
        AnswerEvent event = answer.next(PING_SECONDS, TimeUnit.SECONDS);
        switch (event) {
          case null -> stream.comment("working");
          case AnswerEvent.Reading reading -> tellReading(reading, stream);
          case AnswerEvent.Failed failed -> throw failed.why();
          default -> {
            for (var chunk : reply.chunks(event)) {
              stream.data(chunk);
            }
            left -= event instanceof AnswerEvent.Done ? 1 : 0;
          }
        }
      }
      if (wantsUsage) {
        stream.data(reply.usageChunk(answer.promptTokens()));
      }
      stream.done();
    } catch (ApiException e) {
      answer.stop(Answer.Stop.CLIENT_GONE);
      stream.data(e.json());
      stream.close();
    } catch (IOException | InterruptedException | RuntimeException e) {
      answer.stop(Answer.Stop.CLIENT_GONE);
      throw e;
    }
  }

  private static void tellReading(AnswerEvent.Reading reading, EventStream stream)
      throws IOException {
    if (reading.done() < reading.inAll()) {
      stream.comment("reading %d/%d".formatted(reading.done(), reading.inAll()));
    }
  }

  private interface Ping {
    void send() throws IOException;
  }

  private Answer begin(AnswerRequest request, Ping ping) throws IOException {
    try {
      return answers.begin(
          request,
          () -> {
            try {
              ping.send();
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          });
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /**
   * JSON may begin with blanks. They keep the connection alive while an answer takes its time, and
   * show who has gone, which no reading from a socket would while its request is being answered.
   */
  private void whole(AnswerRequest request, Reply reply, Exchange exchange)
      throws IOException, InterruptedException {
    Blanks blanks = new Blanks(exchange);
    Answer answer = begin(request, blanks::send);
    try {
      int left = answer.choices();
      while (left > 0) {
        AnswerEvent event = answer.next(PING_SECONDS, TimeUnit.SECONDS);
        blanks.sendIfDue();
        switch (event) {
          case null -> {}
          case AnswerEvent.Failed failed -> throw failed.why();
          default -> reply.collect(event);
        }
        left -= event instanceof AnswerEvent.Done ? 1 : 0;
      }
      blanks.end(reply.whole(answer.promptTokens()).toString());
    } catch (ApiException e) {
      answer.stop(Answer.Stop.CLIENT_GONE);
      if (!exchange.isBegun()) {
        throw e;
      }
      blanks.end(e.json().toString());
    } catch (IOException | InterruptedException | RuntimeException e) {
      answer.stop(Answer.Stop.CLIENT_GONE);
      throw e;
    }
  }

  private static final class Blanks {
    private final Exchange exchange;
    private OutputStream out;
    private long sent = System.nanoTime();

    Blanks(Exchange exchange) {
      this.exchange = exchange;
    }

    private OutputStream out() {
      if (out == null) {
        out = exchange.begin(200, "application/json; charset=utf-8");
      }
      return out;
    }

    void sendIfDue() throws IOException {
      if (System.nanoTime() - sent > TimeUnit.SECONDS.toNanos(PING_SECONDS)) {
        send();
      }
    }

    void send() throws IOException {
      sent = System.nanoTime();
      out().write(' ');
      out().flush();
    }

    void end(String json) throws IOException {
      out().write(json.getBytes(StandardCharsets.UTF_8));
      out().close();
    }
  }
}
