package dev.kvasir.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.kvasir.KvCacheSpec;
import dev.kvasir.Model;
import dev.kvasir.server.KvasirServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a collector gets over OTLP. */
@Timeout(60)
class TelemetryTest {
  private static final String ENDPOINT = "otel.exporter.otlp.endpoint";
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

  private final Map<String, ByteArrayOutputStream> received = new TreeMap<>(); // by path

  @AfterEach
  void reset() {
    System.clearProperty(ENDPOINT);
  }

  @Test
  void nothingIsExportedUnlessItIsConfigured() {
    assertThat(new OpenTelemetryProvider(new HashMap<String, String>()::get).open()).isEmpty();
  }

  private HttpServer collector() throws IOException {
    HttpServer collector =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    collector.createContext(
        "/",
        exchange -> {
          byte[] body = exchange.getRequestBody().readAllBytes();
          boolean isPacked =
              "gzip".equals(exchange.getRequestHeaders().getFirst("Content-Encoding"));
          synchronized (received) {
            received
                .computeIfAbsent(
                    exchange.getRequestURI().getPath(), _ -> new ByteArrayOutputStream())
                .write(isPacked ? unpacked(body) : body);
          }
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    collector.start();
    return collector;
  }

  private static byte[] unpacked(byte[] body) throws IOException {
    return new GZIPInputStream(new java.io.ByteArrayInputStream(body)).readAllBytes();
  }

  /** Returns what was received at a path, a character for each byte. */
  private String text(String path) {
    synchronized (received) {
      assertThat(received).containsKey(path);
      return received.get(path).toString(StandardCharsets.ISO_8859_1);
    }
  }

  @Test
  void aCompletionIsASpanOfTheClientsTraceWithItsPhases() throws Exception {
    HttpServer collector = collector();
    System.setProperty(ENDPOINT, "http://127.0.0.1:" + collector.getAddress().getPort());
    try (Model model = Model.bundled();
        KvasirServer server = KvasirServer.start(model, 0, KvCacheSpec.kivi(2))) {
      String body = "{\"prompt\": \"A secret\", \"max_tokens\": 4, \"temperature\": 0.5}";
      assertThat(post(server, body)).isEqualTo(200);
      assertThat(post(server, "{\"prompt\": \"Hi\", \"n\": 16, \"max_tokens\": 1}")).isEqualTo(200);
    } finally {
      collector.stop(0);
    }
    String traces = text("/v1/traces");
    assertThat(traces)
        .contains("text_completion kvasir-mini", "gen_ai.provider.name", "gen_ai.request.model")
        .contains("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens")
        .contains("gen_ai.response.finish_reasons", "length")
        .contains("kvasir.admitted", "kvasir.prefilled", "kvasir.first_text")
        .contains(new String(HexFormat.of().parseHex(TRACE), StandardCharsets.ISO_8859_1))
        .doesNotContain("secret");
    assertThat(text("/v1/metrics"))
        .contains("gen_ai.server.request.duration")
        .contains("gen_ai.server.time_to_first_token")
        .contains("gen_ai.server.time_per_output_token")
        .contains("service.name", "kvasir");
  }

  private static int post(KvasirServer server, String body) throws Exception {
    URI address = URI.create("http://127.0.0.1:" + server.port() + "/v1/completions");
    HttpRequest request =
        HttpRequest.newBuilder(address)
            .header("traceparent", "00-%s-00f067aa0ba902b7-01".formatted(TRACE))
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    return HttpClient.newHttpClient()
        .send(request, HttpResponse.BodyHandlers.discarding())
        .statusCode();
  }
}
