package dev.kvasir.server;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.server.watch.ServerLog;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import kvasir.tools.ShallowModel;

/** A server with two layers of the bundled model, and an HTTP client. */
public final class TestServer implements AutoCloseable {
  private static final long MEMORY = 256 << 20;

  /** Written once for all servers of the process. */
  private static final class Shallow {
    private static final Path FILE = write();

    private static Path write() {
      try {
        Path folder = Files.createTempDirectory("kvasir-test");
        Path file = folder.resolve("kvasir-mini.gguf");
        folder.toFile().deleteOnExit();
        file.toFile().deleteOnExit();
        return ShallowModel.write(file);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private final LoadedModel model;
  private final KvasirServer server;
  private final HttpClient client = HttpClient.newHttpClient();
  private final ByteArrayOutputStream log = new ByteArrayOutputStream();

  private TestServer(LoadedModel model, ServerOptions options) {
    this.model = model;
    server =
        KvasirServer.start(
            model, options, new ServerLog(new PrintStream(log, true, StandardCharsets.UTF_8)));
  }

  public static TestServer start() {
    return start(MEMORY, options -> options);
  }

  public static TestServer start(long cacheBytes, UnaryOperator<ServerOptions> changes) {
    EngineOptions engine = EngineOptions.defaults().withCacheBytes(cacheBytes);
    return start(LoadedModel.load(Shallow.FILE, engine), changes);
  }

  /** Starts a server whose texts mean something. */
  public static TestServer startWhole() {
    EngineOptions engine = EngineOptions.defaults().withCacheBytes(MEMORY);
    return start(LoadedModel.bundled(engine), options -> options);
  }

  private static TestServer start(LoadedModel model, UnaryOperator<ServerOptions> changes) {
    ServerOptions options =
        ServerOptions.defaults()
            .withAddress("127.0.0.1", 0)
            .withCacheSpecs(
                Stream.of("kivi:2", "fp16", "patternkv:2").map(CacheSpec::parse).toList());
    return new TestServer(model, changes.apply(options));
  }

  public LoadedModel model() {
    return model;
  }

  public int port() {
    return server.port();
  }

  KvasirServer server() {
    return server;
  }

  String log() {
    return log.toString(StandardCharsets.UTF_8);
  }

  HttpRequest.Builder to(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path));
  }

  HttpResponse<String> send(HttpRequest request) throws IOException, InterruptedException {
    return client.send(request, BodyHandlers.ofString());
  }

  HttpResponse<String> post(String path, String body) throws IOException, InterruptedException {
    return send(to(path).POST(HttpRequest.BodyPublishers.ofString(body)).build());
  }

  /** Returns a response that must be successful. */
  JsonObject ask(String path, String body) throws IOException, InterruptedException {
    HttpResponse<String> response = post(path, body);
    if (response.statusCode() != 200) {
      throw new AssertionError(response.statusCode() + ": " + response.body());
    }
    return JsonParser.parseString(response.body()).getAsJsonObject();
  }

  String complete(String body) throws IOException, InterruptedException {
    return ask("/v1/completions", body)
        .getAsJsonArray("choices")
        .get(0)
        .getAsJsonObject()
        .get("text")
        .getAsString();
  }

  /** Returns the data of all events of a stream but the final {@code [DONE]}. */
  List<JsonObject> events(String path, String body) throws IOException, InterruptedException {
    List<JsonObject> events = new ArrayList<>();
    for (String line : post(path, body).body().split("\n")) {
      if (line.startsWith("data: {")) {
        events.add(JsonParser.parseString(line.substring(6)).getAsJsonObject());
      }
    }
    return events;
  }

  JsonObject get(String path) throws IOException, InterruptedException {
    return JsonParser.parseString(send(to(path).build()).body()).getAsJsonObject();
  }

  /** Returns the number of running sequences. */
  public int running() throws IOException, InterruptedException {
    return get("/kvasir/state").get("running").getAsInt();
  }

  /** Waits until no sequence runs, evicts cached prefixes, and returns the memory in use. */
  long bytesWhenQuiet() throws IOException, InterruptedException {
    while (running() > 0) {
      Thread.sleep(20);
    }
    model.prefixes().clear();
    return model.cacheMemory().usedBytes();
  }

  @Override
  public void close() {
    server.close();
    model.close();
  }
}
