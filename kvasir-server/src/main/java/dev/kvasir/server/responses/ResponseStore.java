package dev.kvasir.server.responses;

import com.google.gson.JsonObject;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The responses that later requests may refer to: those in progress, and finished ones in memory up
 * to a number of bytes, the least recently used of which are dropped. An archive may keep them
 * longer. Tenants see their own responses only. Thread-safe.
 */
public final class ResponseStore {
  /** The default limit of the memory of finished responses. */
  public static final long MAX_BYTES = 64L << 20;

  private static final String ID_PREFIX = "resp_";
  private static final int BYTES_PER_CHARACTER = 2; // at most, since Java stores Latin-1 in one

  private final long maxBytes;
  private final ResponseArchive archive;
  private final Map<Key, InProgress> inProgress = new ConcurrentHashMap<>();
  private final Map<Key, String> finished = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  private record Key(String tenant, String id) {}

  /** A response that is being generated. */
  interface InProgress {
    /** Returns the response as far as it is known. */
    JsonObject snapshot();

    /** Ends the response early. */
    void cancel();
  }

  public ResponseStore(long maxBytes, ResponseArchive archive) {
    this.maxBytes = maxBytes;
    this.archive = archive;
  }

  void started(String tenant, String id, InProgress response) {
    inProgress.put(new Key(tenant, id), response);
  }

  /** Forgets that a response is in progress. */
  public void ended(String tenant, String id) {
    inProgress.remove(new Key(tenant, id));
  }

  void add(String tenant, String id, StoredResponse response) {
    String json = response.json();
    remember(new Key(tenant, id), json);
    archive.write(tenant, id, json);
  }

  private synchronized void remember(Key key, String json) {
    forget(key);
    finished.put(key, json);
    bytes += size(json);
    var oldest = finished.entrySet().iterator();
    while (bytes > maxBytes) {
      bytes -= size(oldest.next().getValue());
      oldest.remove();
    }
  }

  private static long size(String json) {
    return (long) BYTES_PER_CHARACTER * json.length();
  }

  private synchronized boolean forget(Key key) {
    String json = finished.remove(key);
    bytes -= json == null ? 0 : size(json);
    return json != null;
  }

  private synchronized Optional<String> inMemory(Key key) {
    return Optional.ofNullable(finished.get(key));
  }

  /** Returns a finished response. */
  Optional<StoredResponse> find(String tenant, String id) {
    Key key = new Key(tenant, id);
    Optional<String> known = inMemory(key);
    if (known.isEmpty()) {
      known = archive.read(tenant, id);
      known.ifPresent(json -> remember(key, json));
    }
    return known.map(StoredResponse::parse);
  }

  /** Returns a response, finished or not. */
  public Optional<JsonObject> response(String tenant, String id) {
    InProgress running = inProgress.get(new Key(tenant, id));
    return running == null
        ? find(tenant, id).map(StoredResponse::response)
        : Optional.of(running.snapshot());
  }

  /** Returns the input items of a finished response. */
  public Optional<JsonObject> inputItems(String tenant, String id) {
    return find(tenant, id)
        .map(
            stored -> {
              JsonObject list = new JsonObject();
              list.addProperty("object", "list");
              list.add("data", StoredResponse.array(stored.input()));
              list.addProperty("has_more", false);
              return list;
            });
  }

  /** Cancels a response if it is in progress, and returns it. */
  public Optional<JsonObject> cancel(String tenant, String id) {
    Optional.ofNullable(inProgress.get(new Key(tenant, id))).ifPresent(InProgress::cancel);
    return response(tenant, id);
  }

  /** Deletes a finished response; returns whether there was one. */
  public boolean delete(String tenant, String id) {
    boolean known = find(tenant, id).isPresent();
    forget(new Key(tenant, id));
    archive.delete(tenant, id);
    return known;
  }

  /** Returns an output item of a finished response; its id contains that of the response. */
  Optional<JsonObject> item(String tenant, String id) {
    int from = id.indexOf('_') + 1;
    int to = id.lastIndexOf('_');
    if (to < from) {
      return Optional.empty();
    }
    return find(tenant, ID_PREFIX + id.substring(from, to))
        .flatMap(
            stored ->
                stored.response().getAsJsonArray("output").asList().stream()
                    .map(item -> item.getAsJsonObject())
                    .filter(item -> item.get("id").getAsString().equals(id))
                    .findFirst());
  }
}
