package dev.kvasir.server.http;

import dev.kvasir.server.api.ApiException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** Responds to malformed HTTP requests with the usual JSON error, without quoting them. */
public final class MalformedRequestHandler implements Request.Handler {
  @Override
  public boolean handle(Request request, Response response, Callback callback) {
    response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/json; charset=utf-8");
    String json = ApiException.invalid("this is no request that HTTP allows").json().toString();
    response.write(true, ByteBuffer.wrap(json.getBytes(StandardCharsets.UTF_8)), callback);
    return true;
  }
}
