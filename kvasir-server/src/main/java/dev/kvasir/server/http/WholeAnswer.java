package dev.kvasir.server.http;

import dev.kvasir.server.answer.AnswerEvent;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.openai.Reply;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * An answer as one JSON object, which may begin with blanks. They keep the connection alive while
 * the answer takes its time, and show who has gone, which no reading from a socket would while its
 * request is being answered.
 */
final class WholeAnswer implements AnswerWriter {
  private final Exchange exchange;
  private final Reply reply;
  private OutputStream out; // null until something is sent
  private long sent = System.nanoTime();

  WholeAnswer(Exchange exchange, Reply reply) {
    this.exchange = exchange;
    this.reply = reply;
  }

  @Override
  public void idle(String why) throws IOException {
    sent = System.nanoTime();
    out().write(' ');
    out().flush();
  }

  private OutputStream out() {
    if (out == null) {
      out = exchange.begin(200, "application/json; charset=utf-8");
    }
    return out;
  }

  @Override
  public void tell(AnswerEvent event) throws IOException {
    if (System.nanoTime() - sent > TimeUnit.SECONDS.toNanos(AnswerEndpoint.PING_SECONDS)) {
      idle("");
    }
    reply.collect(event);
  }

  @Override
  public void end(int promptTokens) throws IOException {
    write(reply.whole(promptTokens).toString());
  }

  private void write(String json) throws IOException {
    out().write(json.getBytes(StandardCharsets.UTF_8));
    out().close();
  }

  @Override
  public void refuse(ApiException why) throws IOException {
    if (!exchange.isBegun()) {
      throw why;
    }
    write(why.json().toString());
  }
}
