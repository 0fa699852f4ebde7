package dev.kvasir.server;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.server.watch.ServerLog;
import dev.kvasir.store.StoreAddress;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import kvasir.tools.ShallowModel;

/** A process that serves from files which are truncated meanwhile, and says what clients get. */
final class TruncatedFiles {
  private static final String LONG = "The old man looked at the sea, and the sea was calm. ";
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  private TruncatedFiles() {}

  /** Arguments: a folder for all files. */
  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    Path quantized = ShallowModel.write(folder.resolve("shallow.gguf"));
    Path model = folder.resolve("half.gguf");
    HalfPrecisionModel.write(quantized, 2, model);
    Path store = folder.resolve("store");
    String expected;
    try (LoadedModel loaded = load(model);
        KvasirServer server = start(loaded, store)) {
      expected = text(post(server, false));
    }
    try (LoadedModel loaded = load(model);
        KvasirServer server = start(loaded, store)) {
      truncateStore(server, store);
      System.out.println("same text after it: " + text(post(server, false)).equals(expected));
      System.out.println("livez after it: " + status(server, "/livez"));
    }
    try (LoadedModel loaded = load(model);
        KvasirServer server = start(loaded, folder.resolve("other"))) {
      System.out.println("same text before: " + text(post(server, false)).equals(expected));
      truncate(model);
      System.out.println("model: " + status(post(server, false)));
      System.out.println("model again: " + status(post(server, false)));
      System.out.println("livez: " + status(server, "/livez"));
      System.out.println("readyz: " + status(server, "/readyz"));
    }
  }

  private static LoadedModel load(Path model) {
    return LoadedModel.load(model, EngineOptions.defaults().withCacheBytes(64 << 20));
  }

  private static KvasirServer start(LoadedModel model, Path store) {
    ServerOptions options =
        ServerOptions.defaults()
            .withAddress("127.0.0.1", 0)
            .withCacheSpecs(List.of(CacheSpec.parse("fp32")))
            .withStores(List.of(StoreAddress.parse(store.toString())));
    return KvasirServer.start(
        model, options, new ServerLog(new PrintStream(OutputStream.nullOutputStream())));
  }

  /** Truncates the blocks that a running completion reads. */
  private static void truncateStore(KvasirServer server, Path store) throws Exception {
    String last = "";
    boolean isTruncated = false;
    var response = CLIENT.send(request(server, true), BodyHandlers.ofInputStream());
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        last = line.isEmpty() ? last : line;
        if (line.startsWith("data: {") && !isTruncated) {
          isTruncated = true;
          String mapped = Files.readString(Path.of("/proc/self/maps"));
          System.out.println("blocks are mapped: " + mapped.contains(".kvblock"));
          try (Stream<Path> files = Files.walk(store)) {
            for (Path block : files.filter(one -> one.toString().endsWith("kvblock")).toList()) {
              truncate(block);
            }
          }
        }
      }
    }
    System.out.println("store: " + (last.contains("internal_error") ? "error" : last));
  }

  private static void truncate(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(100);
    }
  }

  private static HttpRequest request(KvasirServer server, boolean streams) {
    String body =
        "{\"prompt\": \"%s\", \"max_tokens\": %d, \"temperature\": 0, \"stream\": %s}"
            .formatted(LONG.repeat(24), streams ? 4000 : 20, streams);
    return HttpRequest.newBuilder(URI.create(address(server) + "/v1/completions"))
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
  }

  private static String address(KvasirServer server) {
    return "http://127.0.0.1:" + server.port();
  }

  private static JsonObject post(KvasirServer server, boolean streams) throws Exception {
    String body = CLIENT.send(request(server, streams), BodyHandlers.ofString()).body();
    return JsonParser.parseString(body).getAsJsonObject();
  }

  private static String text(JsonObject body) {
    return body.getAsJsonArray("choices").get(0).getAsJsonObject().get("text").getAsString();
  }

  private static String status(JsonObject body) {
    return body.has("error") ? body.getAsJsonObject("error").get("code").getAsString() : "a text";
  }

  private static int status(KvasirServer server, String path) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(URI.create(address(server) + path)).build();
    return CLIENT.send(request, BodyHandlers.discarding()).statusCode();
  }
}
