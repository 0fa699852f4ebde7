package dev.kvasir.server.watch;

import dev.kvasir.Generation;
import dev.kvasir.Generation.Finish;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Counters and histograms of a server in the Prometheus text format. */
public final class Metrics {
  private static final double NANOS = 1e-9;

  private final Map<String, LongAdder> requests = new ConcurrentHashMap<>(); // by labels
  private final LongAdder promptTokens = new LongAdder();
  private final LongAdder cachedTokens = new LongAdder();
  private final LongAdder generatedTokens = new LongAdder();
  private final LongAdder draftedTokens = new LongAdder();
  private final LongAdder acceptedTokens = new LongAdder();
  private final LongAdder finished = new LongAdder();
  private final LongAdder truncated = new LongAdder();
  private final RateMeter textRate = new RateMeter();
  private final PrometheusHistogram timeToFirstToken =
      new PrometheusHistogram(
          "kvasir_time_to_first_token_seconds",
          "From a request's arrival to its first text.",
          new double[] {0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60});
  private final PrometheusHistogram interTokenLatency =
      new PrometheusHistogram(
          "kvasir_inter_token_latency_seconds",
          "Between two pieces of a text.",
          new double[] {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5});
  private final PrometheusHistogram requestTime =
      new PrometheusHistogram(
          "kvasir_request_seconds",
          "From a request's arrival to its last byte.",
          new double[] {0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300});

  /** Counts a response, successful or not. */
  public void request(String endpoint, int status, long nanos) {
    String labels = "endpoint=\"%s\",status=\"%d\"".formatted(endpoint, status);
    requests.computeIfAbsent(labels, any -> new LongAdder()).increment();
    requestTime.add(nanos * NANOS);
  }

  /**
   * Counts a piece of generated text.
   *
   * @param gapNanos time since the previous piece; -1 for the first
   * @param sinceArrival time since the request arrived
   */
  public void token(long gapNanos, long sinceArrival) {
    if (gapNanos < 0) {
      timeToFirstToken.add(sinceArrival * NANOS);
    } else {
      interTokenLatency.add(gapNanos * NANOS);
    }
    textRate.count();
  }

  /**
   * Counts a finished completion.
   *
   * @param cached prompt tokens that came from the prefix cache
   */
  public void completed(Generation generation, int cached) {
    promptTokens.add(generation.promptTokens());
    cachedTokens.add(cached);
    generatedTokens.add(generation.generatedTokens());
    draftedTokens.add(generation.drafts().proposedTokens());
    acceptedTokens.add(generation.drafts().acceptedTokens());
    finished.increment();
    if (generation.finish() == Finish.CACHE_FULL) {
      truncated.increment();
    }
  }

  /**
   * Returns the counters and histograms that dashboards of vLLM read. Its counters of the prefix
   * cache count tokens.
   *
   * @param labels the text between the braces
   */
  public String textOfVllm(String labels) {
    StringBuilder out = new StringBuilder();
    long prompt = promptTokens.sum() + cachedTokens.sum();
    vllm(out, "prompt_tokens_total", "Prompt tokens, cached ones included.", labels, prompt);
    vllm(out, "prefix_cache_queries_total", "Prompt tokens looked up.", labels, prompt);
    vllm(out, "prefix_cache_hits_total", "Cached prompt tokens.", labels, cachedTokens.sum());
    vllm(out, "generation_tokens_total", "Generated tokens.", labels, generatedTokens.sum());
    vllm(out, "request_success_total", "Finished completions.", labels, finished.sum());
    timeToFirstToken.writeAs(out, "vllm:time_to_first_token_seconds", labels);
    interTokenLatency.writeAs(out, "vllm:inter_token_latency_seconds", labels);
    return out.toString();
  }

  private static void vllm(StringBuilder out, String name, String help, String labels, long value) {
    header(out, "vllm:" + name, "counter", help);
    out.append("vllm:%s{%s} %d\n".formatted(name, labels, value));
  }

  /** Counts the tokens of texts that were read for embeddings or scores. */
  public void promptRead(int tokens) {
    promptTokens.add(tokens);
  }

  /** Returns recent pieces of text per second. */
  public double tokensPerSecond() {
    return textRate.perSecond();
  }

  /**
   * @param gauges current values, with those of one name adjacent
   */
  public String text(Iterable<Gauge> gauges) {
    StringBuilder out = new StringBuilder();
    header(out, "kvasir_requests_total", "counter", "Requests that have been answered.");
    new TreeMap<>(requests)
        .forEach(
            (labels, count) ->
                out.append("kvasir_requests_total{%s} %d\n".formatted(labels, count.sum())));
    counter(out, "kvasir_prompt_tokens_total", "Prompt tokens that were prefilled.", promptTokens);
    counter(
        out,
        "kvasir_prompt_tokens_cached_total",
        "Prompt tokens that came from the prefix cache.",
        cachedTokens);
    alias(
        out, "kvasir_prompt_tokens_known_total", "kvasir_prompt_tokens_cached_total", cachedTokens);
    counter(out, "kvasir_generated_tokens_total", "Tokens that were generated.", generatedTokens);
    counter(
        out,
        "kvasir_draft_tokens_total",
        "Tokens that speculation proposed and a step verified.",
        draftedTokens);
    counter(
        out,
        "kvasir_draft_tokens_accepted_total",
        "Proposed tokens that became part of a completion.",
        acceptedTokens);
    counter(
        out,
        "kvasir_completions_truncated_total",
        "Completions that ended because the cache was full.",
        truncated);
    alias(out, "kvasir_answers_cut_short_total", "kvasir_completions_truncated_total", truncated);
    timeToFirstToken.write(out);
    interTokenLatency.write(out);
    interTokenLatency.writeAs(out, "kvasir_token_gap_seconds");
    requestTime.write(out);
    String last = "";
    for (Gauge gauge : gauges) {
      if (!gauge.name().equals(last)) {
        header(out, gauge.name(), gauge.type(), gauge.help());
        last = gauge.name();
      }
      String labels = gauge.labels().isEmpty() ? "" : "{" + gauge.labels() + "}";
      out.append("%s%s %s\n".formatted(gauge.name(), labels, number(gauge.value())));
    }
    return out.toString();
  }

  private static String number(double value) {
    return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
  }

  private static void counter(StringBuilder out, String name, String help, LongAdder value) {
    header(out, name, "counter", help);
    out.append("%s %d\n".formatted(name, value.sum()));
  }

  /** Writes a counter under a name that dashboards of earlier versions use. */
  private static void alias(StringBuilder out, String name, String now, LongAdder value) {
    counter(out, name, "Deprecated name of " + now + ".", value);
  }

  private static void header(StringBuilder out, String name, String type, String help) {
    out.append("# HELP %s %s\n# TYPE %s %s\n".formatted(name, help, name, type));
  }

  /**
   * A value that is read when metrics are written. Gauges of one name are adjacent.
   *
   * @param type gauge or counter
   * @param labels the text between the braces; may be empty
   */
  public record Gauge(String name, String type, String help, String labels, double value) {
    /** Returns the gauge of one of several models. */
    public Gauge ofModel(String model) {
      String label = "model=\"%s\"".formatted(model.replaceAll("[\\\\\"\n]", "_"));
      return new Gauge(name, type, help, labels.isEmpty() ? label : label + "," + labels, value);
    }

    /** Returns the same gauges, those of one name adjacent. */
    public static List<Gauge> byName(List<Gauge> gauges) {
      Map<String, List<Gauge>> byName = new LinkedHashMap<>();
      gauges.forEach(one -> byName.computeIfAbsent(one.name, any -> new ArrayList<>()).add(one));
      return byName.values().stream().flatMap(List::stream).toList();
    }
  }
}
