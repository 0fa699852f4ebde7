package dev.kvasir.server.state;

import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import dev.kvasir.cache.CacheRun;
import dev.kvasir.chat.Admission;
import dev.kvasir.chat.CacheUsage;
import dev.kvasir.chat.ChatService;
import dev.kvasir.chat.RequestQueue;
import dev.kvasir.chat.ServedModel;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.engine.PrefixCache;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.server.watch.Metrics;
import dev.kvasir.store.prefix.ConversationStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Reports the state of a server and its memory, as JSON for the page and as gauges for Prometheus.
 */
public final class ServerState {
  private final ServedModel served;
  private final RequestQueue queue;
  private final Admission admission;
  private final Metrics metrics;
  private final Optional<StoreState> store;
  private final CacheShape shape;

  public ServerState(ChatService service, Metrics metrics, Optional<ConversationStore> store) {
    this.served = service.served();
    this.queue = service.queue();
    this.admission = service.admission();
    this.metrics = metrics;
    this.store = store.map(StoreState::new);
    this.shape = served.model().config().cacheShape();
  }

  /**
   * A running or cached sequence and its memory.
   *
   * @param conversation the client's name for it; null for none
   */
  private record SequenceUsage(
      String conversation, String tenant, String state, String cacheSpec, CacheUsage cacheUsage) {}

  private List<SequenceUsage> sequences() {
    List<SequenceUsage> sequences = new ArrayList<>();
    queue
        .running()
        .forEach(
            one ->
                sequences.add(
                    new SequenceUsage(
                        one.request().conversation().orElse(null),
                        one.request().tenant(),
                        "running",
                        one.request().kv().text(),
                        one.cacheUsage())));
    served
        .model()
        .prefixes()
        .forEach(
            prefix ->
                sequences.add(
                    new SequenceUsage(
                        prefix.owner(),
                        prefix.namespace().tenant(),
                        "kept",
                        prefix.namespace().spec(),
                        CacheUsage.of(prefix.cache()))));
    return sequences;
  }

  public boolean isIdle() {
    return admission.running() == 0 && admission.queued() == 0;
  }

  /**
   * @param tenant the caller, who sees the names of its own conversations only
   */
  public JsonObject json(String tenant) {
    List<SequenceUsage> sequences = sequences();
    PrefixCache.PrefixStats prefix = served.model().prefixes().stats();
    MemoryPool pool = served.model().cacheMemory();
    JsonObject state = new JsonObject();
    state.addProperty("model", served.name());
    state.addProperty("chat", served.isChatModel());
    state.addProperty("context", served.contextLimit());
    state.addProperty("kv", served.cacheSpecs().getFirst().text());
    JsonArray specs = new JsonArray();
    served.cacheSpecs().forEach(spec -> specs.add(spec.text()));
    state.add("kinds", specs);
    JsonObject memory = new JsonObject();
    memory.addProperty("limit", pool.limit());
    memory.addProperty("taken", pool.usedBytes());
    // Memory that cached prefixes share with each other or with running sequences counts once.
    memory.addProperty("kept", Math.min(pool.usedBytes(), bytes(sequences, "kept")));
    state.add("memory", memory);
    state.addProperty("running", admission.running());
    state.addProperty("queued", admission.queued());
    state.addProperty("tokens_per_second", metrics.tokensPerSecond());
    JsonObject counts = new JsonObject();
    counts.addProperty("queries", prefix.queries());
    counts.addProperty("hits", prefix.hits());
    counts.addProperty("tokens", prefix.tokens());
    counts.addProperty("far", prefix.remoteHits());
    state.add("prefix", counts);
    JsonArray conversations = new JsonArray();
    sequences.forEach(one -> conversations.add(conversation(one, tenant)));
    state.add("conversations", conversations);
    store.ifPresent(one -> state.add("store", one.json()));
    return state;
  }

  /** Returns the state of a model that is not loaded, which a page can show. */
  public static JsonObject unloaded(String model) {
    JsonObject memory = new JsonObject();
    List.of("limit", "taken", "kept").forEach(name -> memory.addProperty(name, 0));
    JsonObject counts = new JsonObject();
    List.of("queries", "hits", "tokens", "far").forEach(name -> counts.addProperty(name, 0));
    JsonObject state = new JsonObject();
    state.addProperty("model", model);
    state.addProperty("chat", true);
    state.addProperty("context", 0);
    state.addProperty("kv", "");
    state.add("kinds", new JsonArray());
    state.add("memory", memory);
    state.addProperty("running", 0);
    state.addProperty("queued", 0);
    state.addProperty("tokens_per_second", 0);
    state.add("prefix", counts);
    state.add("conversations", new JsonArray());
    return state;
  }

  private static long bytes(List<SequenceUsage> sequences, String state) {
    return sequences.stream()
        .filter(one -> one.state().equals(state))
        .mapToLong(one -> one.cacheUsage().bytes().total())
        .sum();
  }

  private JsonObject conversation(SequenceUsage one, String tenant) {
    CacheUsage cacheUsage = one.cacheUsage();
    JsonObject json = new JsonObject();
    if (one.conversation() == null || !one.tenant().equals(tenant)) {
      json.add("key", JsonNull.INSTANCE);
    } else {
      json.addProperty("key", one.conversation());
    }
    json.addProperty("state", one.state());
    json.addProperty("kv", one.cacheSpec());
    json.addProperty("tokens", cacheUsage.tokens());
    json.addProperty("bytes", cacheUsage.bytes().total());
    json.addProperty("values_bytes_fp16", 2 * shape.valuesInWindows(cacheUsage.tokens()));
    json.addProperty("bits", cacheUsage.bits(shape));
    JsonArray runs = new JsonArray();
    for (CacheRun run : cacheUsage.runs()) {
      JsonObject part = new JsonObject();
      part.addProperty("tokens", run.tokens());
      part.addProperty("width", run.width());
      part.addProperty("bits", run.bits());
      part.addProperty("what", run.kind().name().toLowerCase(Locale.ROOT));
      runs.add(part);
    }
    json.add("strip", runs);
    return json;
  }

  /** Returns all metrics in the Prometheus text format. */
  public String metrics() {
    return metrics.text(gauges()) + metrics.textOfVllm(GatewayGauges.label(served));
  }

  /** Returns the current values of all gauges. */
  public List<Metrics.Gauge> gauges() {
    PrefixCache.PrefixStats prefix = served.model().prefixes().stats();
    MemoryPool pool = served.model().cacheMemory();
    List<Metrics.Gauge> gauges = new ArrayList<>();
    gauges.add(gauge("kvasir_sequences_running", "Running sequences.", admission.running()));
    gauges.add(gauge("kvasir_requests_waiting", "Queued requests.", admission.queued()));
    gauges.add(gauge("kvasir_kv_limit_bytes", "KV-cache memory limit.", pool.limit()));
    addRenamed(
        gauges,
        "kvasir_kv_used_bytes",
        "kvasir_kv_taken_bytes",
        "KV-cache memory in use.",
        pool.usedBytes());
    addRenamed(
        gauges,
        "kvasir_kv_peak_bytes",
        "kvasir_kv_most_bytes",
        "Peak KV-cache memory.",
        pool.peakBytes());
    addRenamed(
        gauges,
        "kvasir_kv_reserved_bytes",
        "kvasir_kv_promised_bytes",
        "KV-cache memory reserved by running sequences.",
        admission.reserved());
    gauges.addAll(GatewayGauges.of(served, admission, pool.limit()));
    kvBytes()
        .forEach(
            (labels, bytes) ->
                gauges.add(
                    new Metrics.Gauge(
                        "kvasir_kv_bytes",
                        "gauge",
                        "KV-cache memory by use; shared memory counts for each sequence.",
                        labels,
                        bytes)));
    gauges.add(counter("kvasir_prefix_queries_total", "Prefix cache lookups.", prefix.queries()));
    gauges.add(counter("kvasir_prefix_hits_total", "Prefix cache hits.", prefix.hits()));
    gauges.add(
        counter(
            "kvasir_prefix_evictions_total",
            "Cached prefixes evicted because memory was needed.",
            prefix.evictions()));
    gauges.add(
        counter(
            "kvasir_preemptions_total",
            "Preempted sequences; always 0, since memory is reserved on admission.",
            0));
    store.ifPresent(one -> gauges.addAll(one.gauges()));
    return gauges;
  }

  private static Metrics.Gauge gauge(String name, String help, long value) {
    return new Metrics.Gauge(name, "gauge", help, "", value);
  }

  /** Adds a gauge, also under the name that dashboards of earlier versions use. */
  private static void addRenamed(
      List<Metrics.Gauge> gauges, String name, String oldName, String help, long value) {
    gauges.add(gauge(name, help, value));
    gauges.add(gauge(oldName, "Deprecated name of " + name + ".", value));
  }

  private static Metrics.Gauge counter(String name, String help, long value) {
    return new Metrics.Gauge(name, "counter", help, "", value);
  }

  /**
   * Returns bytes by state, kind of token and bit width. Scales count towards the width of their
   * page.
   */
  private Map<String, Long> kvBytes() {
    Map<String, Long> bytes = new TreeMap<>();
    for (SequenceUsage one : sequences()) {
      for (CacheRun run : one.cacheUsage().runs()) {
        String labels =
            "state=\"%s\",kind=\"%s\",bits=\"%d\""
                .formatted(
                    one.state(),
                    run.kind().name().toLowerCase(Locale.ROOT),
                    Math.max(1, Math.round(run.width())));
        double values = (double) run.tokens() * shape.valuesPerToken();
        bytes.merge(labels, Math.round(values * run.bits() / 8), Long::sum);
      }
    }
    return bytes;
  }
}
