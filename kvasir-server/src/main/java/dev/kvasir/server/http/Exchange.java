package dev.kvasir.server.http;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;

/** One request and its response, used by the thread that handles it. */
final class Exchange {
  private static final HttpField JSON =
      new HttpField(HttpHeader.CONTENT_TYPE, "application/json; charset=utf-8");

  private final Request request;
  private final Response response;
  private final OutputStream out;
  private final int maxBodyBytes;
  private final PreparationSlots slots;
  private String tenant = "";
  private Function<ApiException, JsonObject> errors = ApiException::json;
  private Fields body; // null until it is read
  private int bodyBytes; // 0 until it is read
  private String route = "unknown";
  private boolean streams;
  private int status;

  Exchange(Request request, Response response, int maxBodyBytes, PreparationSlots slots) {
    this.request = request;
    this.response = response;
    this.out = Content.Sink.asOutputStream(response);
    this.maxBodyBytes = maxBodyBytes;
    this.slots = slots;
  }

  String path() {
    return Request.getPathInContext(request);
  }

  /** Returns the rest of the path after a prefix, decoded. */
  String after(String prefix) {
    return URLDecoder.decode(path().substring(prefix.length()), StandardCharsets.UTF_8);
  }

  /** Returns a parameter of the query. */
  Optional<String> parameter(String name) {
    return Optional.ofNullable(Request.extractQueryParameters(request).getValue(name));
  }

  String method() {
    return request.getMethod();
  }

  /** Returns the tenant of the request; empty if there is only one. */
  String tenant() {
    return tenant;
  }

  void tenant(String value) {
    tenant = value;
  }

  /** Sets the format of errors, which depends on the API. */
  void errors(Function<ApiException, JsonObject> format) {
    errors = format;
  }

  JsonObject error(ApiException why) {
    return errors.apply(why);
  }

  String header(String name) {
    return request.getHeaders().get(name);
  }

  String header(HttpHeader name) {
    return request.getHeaders().get(name);
  }

  void header(HttpHeader name, String value) {
    response.getHeaders().put(name, value);
  }

  void header(String name, String value) {
    response.getHeaders().put(name, value);
  }

  /** Returns the path that its endpoint was registered for, for metrics. */
  String route() {
    return route;
  }

  void route(String value) {
    route = value;
  }

  /**
   * Returns the body, which is read once.
   *
   * @throws ApiException if the body is too large or too slow, not UTF-8 or not a JSON object
   */
  Fields body() throws IOException {
    if (body == null) {
      body = readBody();
    }
    return body;
  }

  /** Computes something from the body, such as the tokens of its prompt. */
  <T> T prepare(Supplier<T> preparation) {
    return slots.run(bodyBytes, preparation);
  }

  /**
   * Frees the body once it has been used: a completion may wait for long, and each token id of a
   * prompt takes 40 bytes as JSON.
   */
  void forgetBody() {
    body = Fields.of(new JsonObject());
  }

  private Fields readBody() throws IOException {
    byte[] bytes;
    try (InputStream in = Content.Source.asInputStream(request)) {
      bytes = new BodyReader(in, System::nanoTime).read(maxBodyBytes);
    } catch (ApiException e) {
      // There may be more to come, so the connection cannot be reused.
      header(HttpHeader.CONNECTION, "close");
      throw e;
    }
    bodyBytes = bytes.length;
    return prepare(() -> parse(bytes));
  }

  private static Fields parse(byte[] bytes) {
    try {
      CharBuffer text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
      return Fields.parse(text.toString());
    } catch (CharacterCodingException e) {
      throw ApiException.invalid("the request's body is not valid UTF-8");
    }
  }

  /** Returns the status that was sent; 0 before that. */
  int status() {
    return status;
  }

  /** Returns whether the response has started. */
  boolean isCommitted() {
    return status != 0;
  }

  void json(int code, JsonElement body) throws IOException {
    json(code, body.toString());
  }

  /** Ends the response with an object, also after keep-alives. */
  void json(int code, String body) throws IOException {
    if (isCommitted()) {
      String text = streams ? "data: " + body + "\n\n" : body;
      out.write(text.getBytes(StandardCharsets.UTF_8));
      out.close();
      return;
    }
    response.getHeaders().put(JSON);
    bytes(code, body.getBytes(StandardCharsets.UTF_8));
  }

  void text(int code, String type, String body) throws IOException {
    header(HttpHeader.CONTENT_TYPE, type);
    bytes(code, body.getBytes(StandardCharsets.UTF_8));
  }

  void bytes(int code, byte[] body) throws IOException {
    begin(code);
    response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.length);
    out.write(body);
    out.close();
  }

  void noContent() throws IOException {
    begin(204);
    out.close();
  }

  private void begin(int code) {
    status = code;
    response.setStatus(code);
  }

  /**
   * Writes what clients ignore, before it is known what the response will be. It keeps the
   * connection alive and detects a disconnect.
   *
   * @param asEvents whether the response will be a stream of events
   */
  void keepAlive(boolean asEvents, String why) throws IOException {
    streams = asEvents;
    OutputStream stream = begin(200, asEvents ? EventStream.TYPE : JSON.getValue());
    stream.write((asEvents ? ": " + why + "\n\n" : " ").getBytes(StandardCharsets.UTF_8));
    stream.flush();
  }

  /** Starts a response of unknown length, unless keep-alives have started it. */
  OutputStream begin(int code, String type) {
    if (isCommitted()) {
      return out;
    }
    begin(code);
    header(HttpHeader.CONTENT_TYPE, type);
    header(HttpHeader.CACHE_CONTROL, "no-store");
    // Proxies would otherwise buffer the stream.
    response.getHeaders().put("X-Accel-Buffering", "no");
    return out;
  }
}
