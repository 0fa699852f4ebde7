package dev.kvasir.cli.batch;

import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.kvasir.error.InvalidInputException;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.Set;

/**
 * The output file of a batch. Each line is written whole when its request is done, so an
 * interrupted run continues where it stopped; a last line that is torn is removed. Thread-safe.
 */
final class BatchOutput implements AutoCloseable {
  private final Path file;
  private final FileChannel channel;

  /** The ids of requests with a response, and of lines that could not be run. */
  private final Set<String> answered = new HashSet<>();

  private final Set<String> refused = new HashSet<>();

  /**
   * Opens the file and reads what is done.
   *
   * @throws InvalidInputException if it cannot be written, or has lines of something else
   */
  BatchOutput(Path file) {
    this.file = file;
    try {
      channel =
          FileChannel.open(
              file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw new InvalidInputException(
          "%s cannot be written: %s".formatted(file, e.getMessage()), e);
    }
    try {
      if (channel.tryLock() == null) {
        throw new InvalidInputException(
            "%s is in use by another run; expected another file".formatted(file));
      }
      long end = readLines();
      channel.truncate(end);
      channel.position(end);
    } catch (IOException e) {
      throw failure(e);
    } catch (InvalidInputException e) {
      closeQuietly();
      throw e;
    }
  }

  /** Reads all whole lines and returns where they end. */
  private long readLines() throws IOException {
    InputStream in = new BufferedInputStream(Channels.newInputStream(channel), 1 << 16);
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    long end = 0;
    for (int number = 1; ; line.reset()) {
      int next = in.read();
      while (next >= 0 && next != '\n') {
        line.write(next);
        next = in.read();
      }
      if (next < 0) {
        return end; // what follows is torn
      }
      record(line.toString(StandardCharsets.UTF_8), number++);
      end += line.size() + 1;
    }
  }

  private void record(String line, int number) {
    if (line.isBlank()) {
      return;
    }
    try {
      JsonObject done = JsonParser.parseString(line).getAsJsonObject();
      JsonElement response = done.get("response");
      boolean hasResponse = response != null && response.isJsonObject();
      (hasResponse ? answered : refused)
          .add(done.get(hasResponse ? "custom_id" : "id").getAsString());
    } catch (JsonParseException
        | IllegalStateException
        | UnsupportedOperationException
        | NullPointerException e) {
      throw new InvalidInputException(
          "%s:%d is no line of a batch's output; expected one, or another file"
              .formatted(file, number),
          e);
    }
  }

  /** Returns whether an earlier run wrote a line for the request. */
  boolean has(BatchRequest request) {
    return request.mistake() == null
        ? answered.contains(request.customId())
        : refused.contains(request.id());
  }

  /** Writes the response to a request. */
  void write(BatchRequest request, int status, JsonElement body) {
    JsonObject response = new JsonObject();
    response.addProperty("status_code", status);
    response.addProperty("request_id", request.id());
    response.add("body", body);
    write(request, response, JsonNull.INSTANCE);
  }

  /** Writes that a request has no response. */
  void writeError(BatchRequest request, String code, String message) {
    JsonObject error = new JsonObject();
    error.addProperty("code", code);
    error.addProperty("message", message);
    write(request, JsonNull.INSTANCE, error);
  }

  private synchronized void write(BatchRequest request, JsonElement response, JsonElement error) {
    JsonObject line = new JsonObject();
    line.addProperty("id", request.id());
    line.addProperty("custom_id", request.customId());
    line.add("response", response);
    line.add("error", error);
    ByteBuffer bytes = ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8));
    try {
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    } catch (IOException e) {
      throw failure(e);
    }
  }

  private InvalidInputException failure(IOException e) {
    closeQuietly();
    return new InvalidInputException(
        "%s cannot be written: %s; the same command continues".formatted(file, e.getMessage()), e);
  }

  private void closeQuietly() {
    try {
      channel.close();
    } catch (IOException e) {
      // the first failure counts
    }
  }

  @Override
  public void close() {
    try {
      channel.force(false);
      channel.close();
    } catch (IOException e) {
      throw failure(e);
    }
  }
}
