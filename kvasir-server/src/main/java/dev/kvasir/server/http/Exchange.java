package dev.kvasir.server.http;

import com.google.gson.JsonObject;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;

/** One request and its response, read and written by the thread that handles it. */
final class Exchange {
  private static final HttpField JSON =
      new HttpField(HttpHeader.CONTENT_TYPE, "application/json; charset=utf-8");

  private final Request request;
  private final Response response;
  private final OutputStream out;
  private final int maxBodyBytes;
  private String tenant = "";
  private int status;

  Exchange(Request request, Response response, int maxBodyBytes) {
    this.request = request;
    this.response = response;
    this.out = Content.Sink.asOutputStream(response);
    this.maxBodyBytes = maxBodyBytes;
  }

  String path() {
    return Request.getPathInContext(request);
  }

  String method() {
    return request.getMethod();
  }

  /** Whose request it is; empty where all are one. */
  String tenant() {
    return tenant;
  }

  void tenant(String value) {
    tenant = value;
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

  /**
   * @throws ApiException where the body is too large, no UTF-8 or no JSON object
   */
  Fields body() throws IOException {
    byte[] bytes;
    try (InputStream in = Content.Source.asInputStream(request)) {
      bytes = in.readNBytes(maxBodyBytes + 1);
    }
    if (bytes.length > maxBodyBytes) {
      // The rest of it is not read, so nothing can follow on this connection.
      header(HttpHeader.CONNECTION, "close");
      throw ApiException.tooLarge(
          "the request has more than %d bytes, which is the most".formatted(maxBodyBytes));
    }
    try {
      CharBuffer text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
      return Fields.parse(text.toString());
    } catch (CharacterCodingException e) {
      throw ApiException.invalid("the request's body is not valid UTF-8");
    }
  }

  /** The status that was answered; 0 until something was. */
  int status() {
    return status;
  }

  /** Whether something was sent that cannot be taken back. */
  boolean isCommitted() {
    return status != 0;
  }

  void json(int code, JsonObject body) throws IOException {
    response.getHeaders().put(JSON);
    bytes(code, body.toString().getBytes(StandardCharsets.UTF_8));
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

  /** Begins a response whose length is not known. */
  OutputStream begin(int code, String type) {
    begin(code);
    header(HttpHeader.CONTENT_TYPE, type);
    header(HttpHeader.CACHE_CONTROL, "no-store");
    // Proxies would otherwise hold a stream back until it is long.
    response.getHeaders().put("X-Accel-Buffering", "no");
    return out;
  }
}
