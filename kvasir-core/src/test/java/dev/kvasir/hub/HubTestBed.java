package dev.kvasir.hub;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import kvasir.tools.StandInHub;
import kvasir.tools.UnsharedRandom;

/** A stand-in hub with a cache of its own, and a record of every pause instead of the pause. */
final class HubTestBed implements AutoCloseable {
  private static final Map<Content, byte[]> BYTES = new ConcurrentHashMap<>();

  final StandInHub hub = new StandInHub();
  final List<Duration> pauses = new CopyOnWriteArrayList<>();
  private final Path cache;

  private record Content(int count, long seed) {}

  HubTestBed(Path cache) {
    this.cache = cache;
  }

  HubSettings settings() {
    return new HubSettings(
        URI.create(hub.endpoint()), cache, Optional.empty(), false, true, Duration.ofSeconds(5));
  }

  HubSettings withToken(String token) {
    HubSettings plain = settings();
    return new HubSettings(
        plain.endpoint(), cache, Optional.of(token), false, true, plain.timeout());
  }

  HubSettings offline() {
    HubSettings plain = settings();
    return new HubSettings(plain.endpoint(), cache, plain.token(), true, true, plain.timeout());
  }

  HubSettings withoutLinks() {
    HubSettings plain = settings();
    return new HubSettings(plain.endpoint(), cache, plain.token(), false, false, plain.timeout());
  }

  ModelHub client() {
    return client(settings());
  }

  ModelHub client(HubSettings settings) {
    return new ModelHub(settings, new RetryPolicy(3, pauses::add));
  }

  Path fetch(String reference) {
    return client().fetch(HubReference.parse(reference), HubListener.NONE);
  }

  /** Returns random bytes, the same array for the same arguments, which nobody changes. */
  static byte[] bytes(int count, long seed) {
    return BYTES.computeIfAbsent(
        new Content(count, seed),
        content -> {
          byte[] bytes = new byte[count];
          new UnsharedRandom(seed).nextBytes(bytes);
          return bytes;
        });
  }

  @Override
  public void close() {
    hub.close();
  }
}
