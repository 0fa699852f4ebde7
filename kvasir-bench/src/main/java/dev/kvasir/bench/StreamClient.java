package dev.kvasir.bench;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/** A streaming client that records the arrival time of each chunk. */
final class StreamClient {
  private static final String DATA = "data: ";

  private final HttpClient http = HttpClient.newHttpClient();
  private final URI address;

  StreamClient(int port) {
    this.address = URI.create("http://127.0.0.1:" + port + "/v1/completions");
  }

  /**
   * The outcome of a request.
   *
   * @param error from the server; null on success
   * @param arrivals of chunks, by {@link System#nanoTime}
   */
  record StreamOutcome(String text, String error, long sentAt, List<Long> arrivals) {
    double firstTokenMillis() {
      return arrivals.isEmpty() ? Double.NaN : (arrivals.getFirst() - sentAt) / 1e6;
    }

    double[] gapMillis() {
      double[] gaps = new double[Math.max(0, arrivals.size() - 1)];
      for (int i = 0; i < gaps.length; i++) {
        gaps[i] = (arrivals.get(i + 1) - arrivals.get(i)) / 1e6;
      }
      return gaps;
    }
  }

  /**
   * @param enough polled after each chunk; true disconnects
   */
  StreamOutcome complete(int[] prompt, int maxTokens, BooleanSupplier enough)
      throws IOException, InterruptedException {
    return complete(body(prompt, maxTokens), enough);
  }

  /** Returns the body of a request. */
  static String body(int[] prompt, int maxTokens) {
    JsonObject body = new JsonObject();
    JsonArray ids = new JsonArray();
    for (int id : prompt) {
      ids.add(id);
    }
    body.add("prompt", ids);
    body.addProperty("max_tokens", maxTokens);
    body.addProperty("temperature", 0);
    body.addProperty("stream", true);
    return body.toString();
  }

  /**
   * @param enough polled after each chunk; true disconnects
   */
  StreamOutcome complete(String body, BooleanSupplier enough)
      throws IOException, InterruptedException {
    long sentAt = System.nanoTime();
    HttpResponse<Stream<String>> response =
        http.send(
            HttpRequest.newBuilder(address).POST(HttpRequest.BodyPublishers.ofString(body)).build(),
            BodyHandlers.ofLines());
    StringBuilder text = new StringBuilder();
    List<Long> arrivals = new ArrayList<>();
    String error = response.statusCode() == 200 ? null : "status " + response.statusCode();
    try (Stream<String> lines = response.body()) {
      for (Iterator<String> all = lines.iterator(); error == null && all.hasNext(); ) {
        String line = all.next();
        if (line.startsWith(DATA + "{")) {
          JsonObject event =
              JsonParser.parseString(line.substring(DATA.length())).getAsJsonObject();
          error = event.has("error") ? event.get("error").toString() : null;
          String piece = error == null ? piece(event) : "";
          text.append(piece);
          if (!piece.isEmpty()) {
            arrivals.add(System.nanoTime());
          }
        }
        if (enough.getAsBoolean()) {
          break;
        }
      }
    }
    return new StreamOutcome(text.toString(), error, sentAt, arrivals);
  }

  private static String piece(JsonObject event) {
    return event.getAsJsonArray("choices").get(0).getAsJsonObject().get("text").getAsString();
  }
}
