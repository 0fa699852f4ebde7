package dev.kvasir.server.state;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.kvasir.server.watch.Metrics.Gauge;
import dev.kvasir.store.prefix.ConversationStore;
import dev.kvasir.store.prefix.StoreCounts;
import dev.kvasir.store.prefix.TierState;
import dev.kvasir.store.tier.BlobTier.TierSize;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Reports the statistics of a store, as JSON for the page and as gauges for Prometheus. */
final class StoreState {
  private final ConversationStore store;

  StoreState(ConversationStore store) {
    this.store = store;
  }

  JsonObject json() {
    StoreCounts counts = store.counts();
    JsonObject json = new JsonObject();
    json.addProperty("hits", counts.hits());
    json.addProperty("misses", counts.misses());
    json.addProperty("not_worth", counts.tooSlow());
    json.addProperty("damaged", counts.damaged());
    json.addProperty("tokens", counts.tokens());
    json.addProperty("bytes", counts.bytes());
    json.addProperty("seconds_saved", counts.secondsSaved());
    json.addProperty("kept", counts.saved());
    json.addProperty("dropped", counts.dropped());
    json.addProperty("prompt_tokens_per_second", store.promptTokensPerSecond());
    JsonArray tiers = new JsonArray();
    store.tiers().forEach(tier -> tiers.add(json(tier)));
    json.add("tiers", tiers);
    return json;
  }

  private static JsonObject json(TierState tier) {
    JsonObject json = new JsonObject();
    json.addProperty("place", tier.counts().type().word());
    json.addProperty("name", tier.counts().tier());
    json.addProperty("hits", tier.counts().hits());
    json.addProperty("misses", tier.counts().misses());
    json.addProperty("bytes_read", tier.counts().bytesRead());
    json.addProperty("bytes_written", tier.counts().bytesWritten());
    json.addProperty("failures", tier.counts().failures());
    json.addProperty("dropped", tier.counts().dropped());
    json.addProperty("bytes_per_second", tier.bytesPerSecond());
    tier.size().map(TierSize::bytes).ifPresent(bytes -> json.addProperty("bytes", bytes));
    return json;
  }

  List<Gauge> gauges() {
    StoreCounts counts = store.counts();
    List<Gauge> gauges = new ArrayList<>();
    String prompts = "kvasir_store_prompts_total";
    String help = "Store lookups of prompt prefixes, by result.";
    long plain = counts.misses() - counts.tooSlow() - counts.damaged();
    gauges.add(new Gauge(prompts, "counter", help, "result=\"hit\"", counts.hits()));
    gauges.add(new Gauge(prompts, "counter", help, "result=\"miss\"", plain));
    gauges.add(new Gauge(prompts, "counter", help, "result=\"not_worth\"", counts.tooSlow()));
    gauges.add(new Gauge(prompts, "counter", help, "result=\"damaged\"", counts.damaged()));
    gauges.add(counter("tokens_fetched", "Prompt tokens fetched from the store.", counts.tokens()));
    gauges.add(
        counter(
            "saved_seconds",
            "Estimated prefill time less fetch time, summed over hits.",
            counts.secondsSaved()));
    gauges.add(counter("beginnings_kept", "Prefixes written to the store.", counts.saved()));
    gauges.add(
        counter(
            "beginnings_dropped",
            "Prefixes not written, for lack of memory or time.",
            counts.dropped()));
    gauges.add(
        new Gauge(
            "kvasir_prompt_tokens_per_second",
            "gauge",
            "Recent prefill speed.",
            "",
            store.promptTokensPerSecond()));
    addTiers(gauges);
    return gauges;
  }

  private static Gauge counter(String what, String help, double value) {
    return new Gauge("kvasir_store_" + what + "_total", "counter", help, "", value);
  }

  private void addTiers(List<Gauge> gauges) {
    List<TierState> tiers = store.tiers();
    add(gauges, tiers, "hits_total", "Blobs that were read.", one -> one.counts().hits());
    add(
        gauges,
        tiers,
        "misses_total",
        "Blobs that were requested and not found.",
        one -> one.counts().misses());
    add(gauges, tiers, "read_bytes_total", "Bytes read.", one -> one.counts().bytesRead());
    add(
        gauges,
        tiers,
        "written_bytes_total",
        "Bytes of saved blobs, including those that were already stored.",
        one -> one.counts().bytesWritten());
    add(
        gauges,
        tiers,
        "failures_total",
        "Failures of the disk or the server.",
        one -> one.counts().failures());
    add(
        gauges,
        tiers,
        "dropped_total",
        "Blobs not written because the write queue was full.",
        one -> one.counts().dropped());
    add(
        gauges,
        tiers,
        "read_bytes_per_second",
        "Recent read speed, or an estimate before the first read.",
        TierState::bytesPerSecond);
    List<TierState> sized = tiers.stream().filter(tier -> tier.size().isPresent()).toList();
    add(gauges, sized, "bytes", "Bytes stored in the tier.", one -> one.size().get().bytes());
  }

  private static void add(
      List<Gauge> gauges,
      List<TierState> tiers,
      String what,
      String help,
      ToDoubleFunction<TierState> value) {
    String type = what.endsWith("_total") ? "counter" : "gauge";
    for (TierState tier : tiers) {
      String labels =
          "tier=\"%s\",place=\"%s\""
              .formatted(escaped(tier.counts().tier()), tier.counts().type().word());
      gauges.add(new Gauge("kvasir_store_" + what, type, help, labels, value.applyAsDouble(tier)));
    }
  }

  /** Escapes a label value for Prometheus. */
  private static String escaped(String label) {
    return label.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }
}
