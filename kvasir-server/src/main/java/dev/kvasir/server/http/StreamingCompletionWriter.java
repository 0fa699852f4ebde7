package dev.kvasir.server.http;

import com.google.gson.JsonObject;
import dev.kvasir.chat.CompletionEvent;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.openai.ResponseBuilder;
import java.io.IOException;

/** Writes a completion as server-sent events. */
final class StreamingCompletionWriter implements CompletionWriter {
  private final EventStream stream;
  private final ResponseBuilder response;
  private final boolean wantsUsage;

  StreamingCompletionWriter(EventStream stream, ResponseBuilder response, boolean wantsUsage) {
    this.stream = stream;
    this.response = response;
    this.wantsUsage = wantsUsage;
  }

  @Override
  public void idle(String why) throws IOException {
    stream.comment(why);
  }

  @Override
  public void accept(CompletionEvent event) throws IOException {
    if (event instanceof CompletionEvent.PrefillProgress progress
        && progress.done() < progress.total()) {
      stream.comment("reading %d/%d".formatted(progress.done(), progress.total()));
    }
    for (JsonObject chunk : response.chunks(event)) {
      stream.data(chunk);
    }
  }

  @Override
  public void end(int promptTokens) throws IOException {
    if (wantsUsage) {
      stream.data(response.usageChunk(promptTokens));
    }
    stream.done();
  }

  @Override
  public void fail(ApiException why) throws IOException {
    stream.data(why.json());
    stream.close();
  }
}
