import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A running llama-server with one model, on the loopback interface. */
final class LlamaServer implements AutoCloseable {
  static final String PROGRAM = "llama-server";

  private static final int CONTEXT = 2048;
  private static final int STARTS = 1200; // tenths of a second
  private static final int LIKELIEST = 20;

  private final Process process;
  private final URI address;
  private final HttpClient client = HttpClient.newHttpClient();
  private final Gson gson = new Gson();

  private LlamaServer(Process process, int port) {
    this.process = process;
    this.address = URI.create("http://127.0.0.1:" + port);
  }

  /**
   * One token of a greedy text.
   *
   * @param logProbabilities those of the likeliest tokens
   */
  record Step(int token, Map<Integer, Double> logProbabilities) {
    /** Returns how far the token is ahead of another one, in nats; NaN if that is unlikely. */
    double lead(int other) {
      return logProbabilities.getOrDefault(token, Double.NaN)
          - logProbabilities.getOrDefault(other, Double.NaN);
    }
  }

  static LlamaServer start(Path llama, Path model, int threads)
      throws IOException, InterruptedException {
    int port = freePort();
    Process process =
        new ProcessBuilder(
                llama.resolve(PROGRAM).toString(),
                "--model",
                model.toString(),
                "--host",
                "127.0.0.1",
                "--port",
                Integer.toString(port),
                "--ctx-size",
                Integer.toString(CONTEXT),
                "--parallel",
                "1",
                "--threads",
                Integer.toString(threads),
                "--jinja")
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    LlamaServer server = new LlamaServer(process, port);
    for (int i = 0; i < STARTS && process.isAlive(); i++) {
      if (server.isReady()) {
        return server;
      }
      Thread.sleep(100);
    }
    server.close();
    throw new IOException("%s did not start with %s".formatted(PROGRAM, model));
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private boolean isReady() throws InterruptedException {
    try {
      HttpRequest request = HttpRequest.newBuilder(address.resolve("/health")).build();
      return client.send(request, BodyHandlers.discarding()).statusCode() == 200;
    } catch (IOException notYet) {
      return false;
    }
  }

  /** Returns the ids of a text with the special tokens around it. */
  int[] tokenize(String text) {
    return post("/tokenize", Map.of("content", text, "add_special", true))
        .getAsJsonArray("tokens")
        .asList()
        .stream()
        .mapToInt(JsonElement::getAsInt)
        .toArray();
  }

  /** Returns the prompt that the model's template makes, without a first token of texts. */
  String prompt(List<Map<String, Object>> messages, List<Map<String, Object>> tools) {
    Map<String, Object> body = new HashMap<>(Map.of("messages", messages));
    if (!tools.isEmpty()) {
      body.put("tools", tools);
    }
    return post("/apply-template", body).get("prompt").getAsString();
  }

  List<Step> greedy(String prompt, int count) {
    JsonArray steps =
        post(
                "/completion",
                Map.of(
                    "prompt",
                    prompt,
                    "n_predict",
                    count,
                    "temperature",
                    -1, // greedy, with the probabilities of a softmax
                    "n_probs",
                    LIKELIEST,
                    "cache_prompt",
                    false))
            .getAsJsonArray("completion_probabilities");
    return steps.asList().stream().map(step -> step(step.getAsJsonObject())).toList();
  }

  private static Step step(JsonObject step) {
    Map<Integer, Double> logProbabilities = new HashMap<>();
    for (JsonElement each : step.getAsJsonArray("top_logprobs")) {
      JsonObject token = each.getAsJsonObject();
      logProbabilities.put(token.get("id").getAsInt(), token.get("logprob").getAsDouble());
    }
    return new Step(step.get("id").getAsInt(), logProbabilities);
  }

  private JsonObject post(String path, Map<String, Object> body) {
    HttpRequest request =
        HttpRequest.newBuilder(address.resolve(path))
            .POST(BodyPublishers.ofString(gson.toJson(body)))
            .build();
    try {
      HttpResponse<String> response = client.send(request, BodyHandlers.ofString());
      if (response.statusCode() != 200) {
        throw new IOException("%s: %s answered %s".formatted(path, PROGRAM, response.body()));
      }
      return JsonParser.parseString(response.body()).getAsJsonObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    client.close();
    process.destroy();
  }
}
