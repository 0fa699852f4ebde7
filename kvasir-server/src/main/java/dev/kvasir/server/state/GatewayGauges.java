package dev.kvasir.server.state;

import dev.kvasir.SessionOptions;
import dev.kvasir.chat.Admission;
import dev.kvasir.chat.ServedModel;
import dev.kvasir.server.watch.Metrics.Gauge;
import java.util.List;

/**
 * The gauges that inference gateways of Kubernetes read, under the names of vLLM. Use of the KV
 * cache is what requests have reserved, since that decides whether another one is admitted.
 */
final class GatewayGauges {
  /** The unit of the KV cache. */
  private static final int BLOCK_TOKENS = 128;

  private GatewayGauges() {}

  static List<Gauge> of(ServedModel served, Admission admission, long limit) {
    double use = Math.min(1, (double) admission.reserved() / limit);
    String model = label(served);
    String help = "Reserved KV-cache memory, from 0 to 1.";
    return List.of(
        new Gauge("kvasir_kv_usage_ratio", "gauge", help, "", use),
        new Gauge(
            "vllm:num_requests_running", "gauge", "Running sequences.", model, admission.running()),
        new Gauge(
            "vllm:num_requests_waiting", "gauge", "Queued requests.", model, admission.queued()),
        new Gauge("vllm:kv_cache_usage_perc", "gauge", help, model, use),
        new Gauge("vllm:gpu_cache_usage_perc", "gauge", help, model, use),
        new Gauge(
            "vllm:cache_config_info",
            "gauge",
            "Blocks of the default cache that the KV-cache memory holds.",
            "block_size=\"%d\",num_gpu_blocks=\"%d\""
                .formatted(BLOCK_TOKENS, blocks(served, limit)),
            1),
        new Gauge(
            "vllm:lora_requests_info",
            "gauge",
            "Adapters; there are none.",
            "max_lora=\"0\",running_lora_adapters=\"\",waiting_lora_adapters=\"\"",
            1));
  }

  /** Returns the label that all metrics of vLLM have. */
  static String label(ServedModel served) {
    return "model_name=\"%s\"".formatted(served.name().replaceAll("[\\\\\"\n]", "_"));
  }

  /** A long sequence shows what a block takes, apart from the window of each sequence. */
  private static long blocks(ServedModel served, long limit) {
    SessionOptions options = SessionOptions.builder().cache(served.cacheSpecs().getFirst()).build();
    int tokens = served.contextLimit();
    long bytes = served.model().maxCacheBytes(options, tokens);
    return (long) ((double) limit / bytes * tokens / BLOCK_TOKENS);
  }
}
