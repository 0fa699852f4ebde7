package dev.kvasir.server.http;

import dev.kvasir.server.api.ApiException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpHeader;

/** Serves the web page and its files from the resources of this module. */
final class StaticFiles implements Endpoint {
  private static final String FOLDER = "/dev/kvasir/server/page/";
  private static final Pattern NAME = Pattern.compile("[a-z0-9-]+\\.(html|js|css|svg)");
  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "svg", "image/svg+xml");

  /**
   * Scripts, styles and images load from this server only, and no other site may frame the page.
   */
  private static final String POLICY =
      "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none';"
          + " frame-ancestors 'none'";

  @Override
  public void handle(Exchange exchange) throws IOException {
    String path = exchange.path();
    String name = path.equals("/") ? "index.html" : path.substring(path.lastIndexOf('/') + 1);
    byte[] bytes = NAME.matcher(name).matches() ? read(name) : null;
    if (bytes == null) {
      throw ApiException.notFound("the page has no such file");
    }
    exchange.header(HttpHeader.CONTENT_TYPE, TYPES.get(name.substring(name.indexOf('.') + 1)));
    exchange.header(HttpHeader.CACHE_CONTROL, "no-cache");
    exchange.header("Content-Security-Policy", POLICY);
    exchange.header("X-Content-Type-Options", "nosniff");
    exchange.header("Referrer-Policy", "no-referrer");
    exchange.bytes(200, bytes);
  }

  private static byte[] read(String name) throws IOException {
    try (InputStream in = StaticFiles.class.getResourceAsStream(FOLDER + name)) {
      return in == null ? null : in.readAllBytes();
    }
  }
}
