package dev.kvasir.hub;

import dev.kvasir.error.InvalidInputException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalLong;

/** The two questions to a hub: which files a repository has, and where the bytes of one are. */
final class HubClient {
  /** A hundred thousand files take twenty megabytes. */
  private static final long MAX_LISTING_BYTES = 64L << 20;

  private static final int MAX_REDIRECTS = 8;

  private final HubHttp http;

  HubClient(HubHttp http) {
    this.http = http;
  }

  /**
   * Returns the files of a repository at a revision.
   *
   * @throws InvalidInputException if there is no such repository or revision, or no access
   */
  HubListing list(HubReference reference) {
    URI address =
        at(
            "/api/models/%s/revision/%s?blobs=true"
                .formatted(reference.repository(), encoded(reference.revision())));
    for (int redirects = 0; redirects < MAX_REDIRECTS; redirects++) {
      HttpRequest request = http.request(address).header("Accept", "application/json").build();
      HttpResponse<String> response = http.send(request, limitedText());
      if (isRedirect(response)) {
        address = http.redirected(address, location(response, address));
        continue;
      }
      if (response.statusCode() != 200) {
        throw refused(response, reference, "");
      }
      return HubListing.parse(reference.toString(), response.body());
    }
    throw tooManyRedirects(reference);
  }

  private static HttpResponse.BodyHandler<String> limitedText() {
    return BodyHandlers.limiting(BodyHandlers.ofString(StandardCharsets.UTF_8), MAX_LISTING_BYTES);
  }

  /**
   * Returns where the bytes of a file are. The first answer of the hub has its hash and size, and
   * redirects to another host for large files.
   */
  BlobLocation locate(HubReference reference, String commit, HubFile file) {
    URI address =
        at(
            "/%s/resolve/%s/%s"
                .formatted(
                    reference.repository(), commit, encoded(file.path()).replace("%2F", "/")));
    for (int redirects = 0; redirects < MAX_REDIRECTS; redirects++) {
      HttpResponse<Void> response =
          http.send(http.request(address).HEAD().build(), BodyHandlers.discarding());
      boolean isRedirect = isRedirect(response);
      if (!isRedirect && response.statusCode() != 200) {
        throw refused(response, reference, file.path());
      }
      URI next = isRedirect ? http.redirected(address, location(response, address)) : address;
      Optional<String> tag = header(response, "X-Linked-Etag").or(() -> header(response, "ETag"));
      // A renamed repository redirects on the same host, without the headers of a file.
      boolean isRenamed =
          isRedirect && http.isHub(next) && header(response, "X-Linked-Etag").isEmpty();
      if (!isRenamed) {
        return new BlobLocation(
            next,
            tag.map(HubClient::normalized)
                .filter(SafePath::isName)
                .orElseThrow(() -> withoutTag(reference, file)),
            isRedirect ? size(response, "X-Linked-Size") : sizeOfBody(response));
      }
      address = next;
    }
    throw tooManyRedirects(reference);
  }

  private URI at(String path) {
    return URI.create(http.settings().endpoint() + path);
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private static boolean isRedirect(HttpResponse<?> response) {
    return switch (response.statusCode()) {
      case 301, 302, 303, 307, 308 -> true;
      default -> false;
    };
  }

  private static String location(HttpResponse<?> response, URI from) {
    return header(response, "Location")
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "%s: answers %d without a Location; expected the address of a file"
                        .formatted(from.getHost(), response.statusCode())));
  }

  private static Optional<String> header(HttpResponse<?> response, String name) {
    return response.headers().firstValue(name);
  }

  /** Returns a tag without quotes and without the mark of a weak one. */
  private static String normalized(String tag) {
    return tag.strip().replaceFirst("^W/", "").replaceAll("^\"|\"$", "");
  }

  private static OptionalLong sizeOfBody(HttpResponse<?> response) {
    OptionalLong linked = size(response, "X-Linked-Size");
    return linked.isPresent() ? linked : size(response, "Content-Length");
  }

  private static OptionalLong size(HttpResponse<?> response, String name) {
    Optional<String> text = header(response, name).filter(digits -> digits.matches("\\d{1,18}"));
    return text.isPresent() ? OptionalLong.of(Long.parseLong(text.get())) : OptionalLong.empty();
  }

  /** Returns the sentence for an answer that no repetition changes. */
  private InvalidInputException refused(
      HttpResponse<?> response, HubReference reference, String path) {
    int status = response.statusCode();
    String code = header(response, "X-Error-Code").orElse("");
    boolean hasToken = http.settings().token().isPresent();
    String page = http.settings().endpoint() + "/" + reference.repository();
    if (code.equals("GatedRepo") || (status == 403 && code.isEmpty())) {
      return new InvalidInputException(
          hasToken
              ? "%s: is gated, and the token of HF_TOKEN has no access; request it at %s"
                  .formatted(reference, page)
              : "%s: is gated; request access at %s and set HF_TOKEN".formatted(reference, page));
    }
    if (code.equals("RevisionNotFound")) {
      return new InvalidInputException(
          "%s: has no revision '%s'".formatted(reference, reference.revision()));
    }
    if (code.equals("EntryNotFound")) {
      return new InvalidInputException("%s: has no file '%s'".formatted(reference, path));
    }
    if (status == 401 || status == 404) {
      return new InvalidInputException(
          hasToken
              ? "%s: %s has no such repository for the token of HF_TOKEN"
                  .formatted(reference, http.settings().endpoint())
              : "%s: %s has no such repository, or it is private; set HF_TOKEN for a private one"
                  .formatted(reference, http.settings().endpoint()));
    }
    return new InvalidInputException(
        "%s: %s answers %d%s; expected 200"
            .formatted(
                reference,
                http.settings().endpoint(),
                status,
                header(response, "X-Error-Message").map(text -> ", " + excerpt(text)).orElse("")));
  }

  private static String excerpt(String text) {
    return text.length() <= 200 ? text : text.substring(0, 200) + "...";
  }

  private static InvalidInputException withoutTag(HubReference reference, HubFile file) {
    return new InvalidInputException(
        "%s: the hub states no ETag for %s; expected one, which names the file in the cache"
            .formatted(reference, file.path()));
  }

  private static InvalidInputException tooManyRedirects(HubReference reference) {
    return new InvalidInputException(
        "%s: redirects more than %d times".formatted(reference, MAX_REDIRECTS));
  }
}
