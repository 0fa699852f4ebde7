package kvasir.tools;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A hub that speaks the protocol of Hugging Face over HTTP: listings, redirects of large files to
 * another host, ranges, hashes in headers, and failures on demand. The hub is {@code localhost} and
 * the storage {@code 127.0.0.1}, each with a free port.
 */
public final class StandInHub implements AutoCloseable {
  private static final Pattern LISTING =
      Pattern.compile("/api/models/([^/]+/[^/]+)(?:/revision/([^/]+))?");
  private static final Pattern TREE = Pattern.compile("/api/models/([^/]+/[^/]+)/tree/([^/]+).*");
  private static final Pattern RESOLVE = Pattern.compile("/([^/]+/[^/]+)/resolve/([^/]+)/(.+)");
  private static final Pattern RANGE = Pattern.compile("bytes=(\\d+)-(\\d*)");

  /** A request as it came. */
  public record Seen(
      boolean atStorage,
      String method,
      String path,
      Optional<String> authorization,
      Optional<String> range) {}

  /** What happens to a request instead of the usual answer. */
  public sealed interface Fault {
    /** An answer with another status. */
    record Status(int code, Map<String, String> headers) implements Fault {}

    /** The connection ends after some bytes of the body. */
    record Cut(int bytes) implements Fault {}

    /** The whole file comes although a range was asked for. */
    record WholeFile() implements Fault {}

    /** The listing is this text. */
    record Text(String body) implements Fault {}
  }

  private final HttpServer hub = server();
  private final HttpServer storage = server();
  private final Map<String, StandInRepository> repositories = new ConcurrentHashMap<>();
  private final Map<String, String> renamed = new ConcurrentHashMap<>();
  private final List<Seen> seen = new CopyOnWriteArrayList<>();
  private final ConcurrentLinkedQueue<Fault> hubFaults = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<Fault> storageFaults = new ConcurrentLinkedQueue<>();
  private volatile Optional<Fault> lastingStorageFault = Optional.empty();

  public StandInHub() {
    hub.createContext("/", exchange -> answer(exchange, false));
    storage.createContext("/", exchange -> answer(exchange, true));
    hub.start();
    storage.start();
  }

  private static HttpServer server() {
    try {
      HttpServer server =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
      return server;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the value for {@code HF_ENDPOINT}. */
  public String endpoint() {
    return "http://localhost:" + hub.getAddress().getPort();
  }

  private String storageAddress() {
    return "http://127.0.0.1:" + storage.getAddress().getPort();
  }

  /** Adds an empty repository, or returns the one of that name. */
  public StandInRepository repository(String name) {
    return repositories.computeIfAbsent(name, StandInRepository::new);
  }

  public void rename(String from, String to) {
    renamed.put(from, to);
  }

  /** Lets the next requests to the hub fail, one each. */
  public void failAtHub(Fault... faults) {
    hubFaults.addAll(List.of(faults));
  }

  /** Lets the next requests to the storage fail, one each. */
  public void failAtStorage(Fault... faults) {
    storageFaults.addAll(List.of(faults));
  }

  /** Lets every request to the storage fail that no other fault is for. */
  public void failAlwaysAtStorage(Fault fault) {
    lastingStorageFault = Optional.of(fault);
  }

  public void repairStorage() {
    lastingStorageFault = Optional.empty();
    storageFaults.clear();
  }

  /** Returns all requests so far, in the order in which they came. */
  public List<Seen> seen() {
    return List.copyOf(seen);
  }

  public long seenAtStorage() {
    return seen.stream().filter(Seen::atStorage).count();
  }

  private void answer(HttpExchange exchange, boolean atStorage) throws IOException {
    try (exchange) {
      String path = exchange.getRequestURI().getPath();
      seen.add(
          new Seen(
              atStorage,
              exchange.getRequestMethod(),
              exchange.getRequestURI().toString(),
              Optional.ofNullable(exchange.getRequestHeaders().getFirst("Authorization")),
              Optional.ofNullable(exchange.getRequestHeaders().getFirst("Range"))));
      Optional<Fault> fault = nextFault(atStorage);
      if (fault.isPresent() && fault.get() instanceof Fault.Status status) {
        status.headers().forEach(exchange.getResponseHeaders()::set);
        exchange.sendResponseHeaders(status.code(), -1);
      } else if (fault.isPresent() && fault.get() instanceof Fault.Text text) {
        sendText(exchange, text.body());
      } else if (atStorage) {
        sendBlob(exchange, path.substring(1), fault);
      } else {
        answerHub(exchange, path, fault);
      }
    }
  }

  private Optional<Fault> nextFault(boolean atStorage) {
    Optional<Fault> next = Optional.ofNullable(atStorage ? storageFaults.poll() : hubFaults.poll());
    return atStorage ? next.or(() -> lastingStorageFault) : next;
  }

  private void answerHub(HttpExchange exchange, String path, Optional<Fault> fault)
      throws IOException {
    String raw = exchange.getRequestURI().getRawPath();
    Matcher listing = LISTING.matcher(raw);
    Matcher tree = TREE.matcher(raw);
    Matcher resolve = RESOLVE.matcher(path);
    if (tree.matches()) {
      StandInRepository found = admitted(exchange, tree.group(1), tree.group(2));
      if (found != null) {
        sendText(exchange, found.tree());
      }
    } else if (listing.matches()) {
      String revision = listing.group(2) == null ? "main" : listing.group(2);
      StandInRepository found = admitted(exchange, listing.group(1), revision);
      if (found != null) {
        sendText(exchange, found.listing());
      }
    } else if (resolve.matches()) {
      StandInRepository found = admitted(exchange, resolve.group(1), resolve.group(2));
      if (found != null) {
        resolve(exchange, found, resolve.group(3), fault);
      }
    } else {
      refuse(exchange, 404, "");
    }
  }

  /** Returns the repository if the request may see it; else answers with a refusal. */
  private StandInRepository admitted(HttpExchange exchange, String name, String revision)
      throws IOException {
    String other = renamed.get(name);
    if (other != null) {
      URI uri = exchange.getRequestURI();
      exchange.getResponseHeaders().set("Location", uri.toString().replace(name, other));
      exchange.sendResponseHeaders(307, -1);
      return null;
    }
    StandInRepository found = repositories.get(name);
    String authorization = exchange.getRequestHeaders().getFirst("Authorization");
    if (found == null) {
      refuse(exchange, authorization == null ? 401 : 404, "RepoNotFound");
      return null;
    }
    if (found.token().isPresent() && !("Bearer " + found.token().get()).equals(authorization)) {
      refuse(exchange, authorization == null ? 401 : 403, "GatedRepo");
      return null;
    }
    if (!found.hasRevision(revision.replace("%2F", "/"))) {
      refuse(exchange, 404, "RevisionNotFound");
      return null;
    }
    return found;
  }

  private static void refuse(HttpExchange exchange, int status, String code) throws IOException {
    if (!code.isEmpty()) {
      exchange.getResponseHeaders().set("X-Error-Code", code);
      exchange.getResponseHeaders().set("X-Error-Message", "refused");
    }
    exchange.sendResponseHeaders(status, -1);
  }

  private static void sendText(HttpExchange exchange, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json; charset=utf-8");
    exchange.sendResponseHeaders(200, bytes.length == 0 ? -1 : bytes.length);
    if (bytes.length > 0) {
      exchange.getResponseBody().write(bytes);
    }
  }

  private void resolve(
      HttpExchange exchange, StandInRepository repository, String path, Optional<Fault> fault)
      throws IOException {
    StandInRepository.File file = repository.file(path);
    if (file == null) {
      exchange.getResponseHeaders().set("X-Repo-Commit", repository.commit());
      refuse(exchange, 404, "EntryNotFound");
      return;
    }
    exchange.getResponseHeaders().set("X-Repo-Commit", repository.commit());
    if (file.isLarge()) {
      exchange.getResponseHeaders().set("X-Linked-Etag", "\"" + file.hash() + "\"");
      exchange.getResponseHeaders().set("X-Linked-Size", Long.toString(file.content().length));
      exchange
          .getResponseHeaders()
          .set("Location", storageAddress() + "/" + repository.name() + "/" + file.hash());
      exchange.sendResponseHeaders(302, -1);
      return;
    }
    exchange.getResponseHeaders().set("ETag", "\"" + file.hash() + "\"");
    if (exchange.getRequestMethod().equals("HEAD")) {
      exchange.getResponseHeaders().set("Content-Length", Long.toString(file.content().length));
      exchange.sendResponseHeaders(200, -1);
    } else {
      sendRange(exchange, file.content(), fault);
    }
  }

  private void sendBlob(HttpExchange exchange, String path, Optional<Fault> fault)
      throws IOException {
    int slash = path.lastIndexOf('/');
    StandInRepository repository = repositories.get(path.substring(0, Math.max(0, slash)));
    byte[] content = repository == null ? null : repository.content(path.substring(slash + 1));
    if (content == null) {
      refuse(exchange, 403, "");
    } else {
      sendRange(exchange, content, fault);
    }
  }

  private static void sendRange(HttpExchange exchange, byte[] content, Optional<Fault> fault)
      throws IOException {
    String header = exchange.getRequestHeaders().getFirst("Range");
    boolean isWhole = fault.isPresent() && fault.get() instanceof Fault.WholeFile;
    Matcher range = RANGE.matcher(header == null || isWhole ? "" : header);
    int from = 0;
    int to = content.length; // exclusive
    int status = 200;
    if (range.matches()) {
      from = Integer.parseInt(range.group(1));
      to = range.group(2).isEmpty() ? to : Math.min(to, Integer.parseInt(range.group(2)) + 1);
      status = from >= content.length ? 416 : 206;
      exchange
          .getResponseHeaders()
          .set("Content-Range", "bytes %d-%d/%d".formatted(from, to - 1, content.length));
    }
    if (status == 416 || to <= from) {
      exchange.sendResponseHeaders(status, -1);
      return;
    }
    exchange.sendResponseHeaders(status, to - from);
    int sent =
        fault.isPresent() && fault.get() instanceof Fault.Cut cut
            ? Math.min(cut.bytes(), to - from)
            : to - from;
    OutputStream body = exchange.getResponseBody();
    body.write(content, from, sent);
    body.flush();
  }

  @Override
  public void close() {
    hub.stop(0);
    storage.stop(0);
  }
}
