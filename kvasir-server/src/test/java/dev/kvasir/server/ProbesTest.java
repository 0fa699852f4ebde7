package dev.kvasir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.server.api.AccessRules;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** What Kubernetes and its inference gateways ask for. */
class ProbesTest {
  private static int status(TestServer server, int port, String path)
      throws IOException, InterruptedException {
    URI address = URI.create("http://127.0.0.1:" + port + path);
    return server.send(HttpRequest.newBuilder(address).build()).statusCode();
  }

  @Test
  void metricsHaveTheirOwnPortWithoutAKey() throws Exception {
    AccessRules access = AccessRules.of(List.of("secret-key"), Set.of());
    try (TestServer server =
        TestServer.start(64 << 20, options -> options.withAccess(access).withMetricsPort(0))) {
      int port = server.server().metricsPort().orElseThrow();
      assertThat(status(server, server.port(), "/metrics")).isEqualTo(401);
      for (String path : List.of("/metrics", "/livez", "/readyz", "/health")) {
        assertThat(status(server, port, path)).as(path).isEqualTo(200);
      }
      for (String path : List.of("/v1/models", "/kvasir/state", "/")) {
        assertThat(status(server, port, path)).as(path).isEqualTo(404);
      }
    }
  }

  @Test
  void gatewaysFindTheirGauges() throws Exception {
    try (TestServer server = TestServer.start()) {
      String metrics = server.send(server.to("/metrics").build()).body();
      assertThat(metrics)
          .contains("vllm:num_requests_waiting{model_name=\"kvasir-mini\"} 0")
          .contains("vllm:num_requests_running{model_name=\"kvasir-mini\"} 0")
          .contains("vllm:kv_cache_usage_perc{model_name=\"kvasir-mini\"} 0")
          .contains("kvasir_kv_usage_ratio 0")
          .containsPattern(
              "vllm:cache_config_info\\{block_size=\"128\",num_gpu_blocks=\"[1-9]\\d*\"} 1")
          .contains("vllm:lora_requests_info{max_lora=\"0\"");
    }
  }

  @Test
  void dashboardsOfVllmFindTheirCounters() throws Exception {
    try (TestServer server = TestServer.start()) {
      for (int i = 0; i < 2; i++) {
        server.complete("{\"prompt\": [5, 6, 7, 8], \"max_tokens\": 2, \"temperature\": 0}");
      }
      String metrics = server.send(server.to("/metrics").build()).body();
      assertThat(metrics)
          .contains("vllm:prompt_tokens_total{model_name=\"kvasir-mini\"} 8")
          .contains("vllm:prefix_cache_queries_total{model_name=\"kvasir-mini\"} 8")
          .contains("vllm:prefix_cache_hits_total{model_name=\"kvasir-mini\"} 3")
          .contains("vllm:generation_tokens_total{model_name=\"kvasir-mini\"} 4")
          .contains("vllm:request_success_total{model_name=\"kvasir-mini\"} 2")
          .contains("vllm:time_to_first_token_seconds_count{model_name=\"kvasir-mini\"} 2")
          .contains("vllm:inter_token_latency_seconds_bucket{model_name=\"kvasir-mini\",le=");
    }
  }

  @Test
  void gatewaysOfOtherServersFindTheModel() throws Exception {
    try (TestServer server = TestServer.start()) {
      assertThat(status(server, server.port(), "/ping")).isEqualTo(200);
      assertThat(server.get("/is_sleeping").get("is_sleeping").getAsBoolean()).isFalse();
      assertThat(server.get("/model_info").get("served_model_name").getAsString())
          .isEqualTo("kvasir-mini");
      assertThat(server.get("/server_info").get("max_running_requests").getAsInt()).isEqualTo(64);
    }
  }

  @Test
  void aDrainingServerFinishesWhatRunsAndRefusesTheRest() throws Exception {
    try (TestServer server = TestServer.start();
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      String body = "{\"prompt\": \"Long\", \"max_tokens\": 400, \"temperature\": 0}";
      Future<String> running = clients.submit(() -> server.complete(body));
      while (server.running() == 0) {
        Thread.sleep(5);
      }
      server.server().drain();
      assertThat(status(server, server.port(), "/readyz")).isEqualTo(503);
      assertThat(status(server, server.port(), "/livez")).isEqualTo(200);
      assertThat(server.post("/v1/completions", body).statusCode()).isEqualTo(503);
      assertThat(running.get()).isNotEmpty();
      assertThat(server.server().awaitIdle(Duration.ofMinutes(1))).isTrue();
    }
  }
}
