package dev.kvasir.server.http;

import com.google.gson.JsonObject;
import dev.kvasir.server.answer.AnswerEvent;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.openai.Reply;
import java.io.IOException;

/** An answer as events, piece by piece. */
final class StreamedAnswer implements AnswerWriter {
  private final EventStream stream;
  private final Reply reply;
  private final boolean wantsUsage;

  StreamedAnswer(EventStream stream, Reply reply, boolean wantsUsage) {
    this.stream = stream;
    this.reply = reply;
    this.wantsUsage = wantsUsage;
  }

  @Override
  public void idle(String why) throws IOException {
    stream.comment(why);
  }

  @Override
  public void tell(AnswerEvent event) throws IOException {
    if (event instanceof AnswerEvent.Reading reading && reading.done() < reading.inAll()) {
      stream.comment("reading %d/%d".formatted(reading.done(), reading.inAll()));
    }
    for (JsonObject chunk : reply.chunks(event)) {
      stream.data(chunk);
    }
  }

  @Override
  public void end(int promptTokens) throws IOException {
    if (wantsUsage) {
      stream.data(reply.usageChunk(promptTokens));
    }
    stream.done();
  }

  @Override
  public void refuse(ApiException why) throws IOException {
    stream.data(why.json());
    stream.close();
  }
}
