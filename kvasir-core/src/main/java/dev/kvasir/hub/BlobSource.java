package dev.kvasir.hub;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.net.ProtocolException;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The bytes of a remote file. Several threads may read at once. The address on the host of large
 * files expires, so it is looked up again when that host refuses it.
 */
final class BlobSource {
  private static final Pattern CONTENT_RANGE = Pattern.compile("bytes (\\d{1,18})-\\d+/.*");

  private final String name;
  private final long size;
  private final HubHttp http;
  private final Supplier<BlobLocation> lookUp;
  private BlobLocation location;

  /**
   * @param name for error messages
   * @param location where to begin
   * @param lookUp returns the location anew
   */
  BlobSource(
      String name, long size, HubHttp http, BlobLocation location, Supplier<BlobLocation> lookUp) {
    this.name = name;
    this.size = size;
    this.http = http;
    this.location = location;
    this.lookUp = lookUp;
  }

  String name() {
    return name;
  }

  long size() {
    return size;
  }

  /**
   * Fills a buffer with a range of the file.
   *
   * @param from position of the first byte
   * @param received counts bytes as they come
   * @throws RangesIgnoredException if the server only sends whole files
   */
  void read(long from, ByteBuffer into, AtomicLong received) throws RangesIgnoredException {
    LongSupplier end = () -> from + into.position();
    long limit = from + into.remaining();
    SinkBody.Sink sink =
        bytes -> {
          if (bytes.remaining() > into.remaining()) {
            throw new ProtocolException("it is longer than the range");
          }
          received.addAndGet(bytes.remaining());
          into.put(bytes);
        };
    repeat(end, limit, () -> rangeHandler(end.getAsLong(), limit, sink), Optional.of(limit));
  }

  /** Reads the whole file from a server without ranges; each attempt starts at its first byte. */
  void readAll(Supplier<SinkBody.Sink> sinks, LongSupplier end) throws RangesIgnoredException {
    repeat(
        end,
        size,
        () ->
            head ->
                head.statusCode() == 200
                    ? new SinkBody(sinks.get())
                    : BodySubscribers.replacing(null),
        Optional.empty());
  }

  private BodyHandler<Void> rangeHandler(long from, long limit, SinkBody.Sink sink) {
    return head -> {
      switch (head.statusCode()) {
        case 206:
          Optional<ProtocolException> wrong = wrongStart(head, from);
          return wrong.isPresent() ? SinkBody.refusing(wrong.get()) : new SinkBody(sink);
        case 200:
          // A whole file is as good as a range that is the whole file.
          boolean isWhole = from == 0 && limit == size;
          return isWhole ? new SinkBody(sink) : SinkBody.refusing(new RangesIgnoredException());
        default:
          return BodySubscribers.replacing(null);
      }
    };
  }

  private static Optional<ProtocolException> wrongStart(HttpResponse.ResponseInfo head, long from) {
    String range = head.headers().firstValue("Content-Range").orElse("");
    Matcher found = CONTENT_RANGE.matcher(range);
    return found.matches() && Long.parseLong(found.group(1)) == from
        ? Optional.empty()
        : Optional.of(
            new ProtocolException(
                "its range is '%s' instead of byte %d on".formatted(range, from)));
  }

  /**
   * Sends requests until all bytes are there. Attempts are counted from the last byte that came, so
   * a bad connection that makes progress is not given up.
   *
   * @param end position after the last byte that is there
   * @param limit position after the last byte that is wanted
   * @param handlers returns the handler of the next answer
   * @param rangeEnd where the requested range ends, without which the whole file is requested
   */
  private void repeat(
      LongSupplier end, long limit, Supplier<BodyHandler<Void>> handlers, Optional<Long> rangeEnd)
      throws RangesIgnoredException {
    int failures = 0;
    boolean isRenewed = false;
    while (end.getAsLong() < limit) {
      BlobLocation current = location();
      long before = end.getAsLong();
      String reason;
      Optional<Duration> requested = Optional.empty();
      try {
        var request = http.request(current.address());
        rangeEnd.ifPresent(
            last -> request.header("Range", "bytes=%d-%d".formatted(before, last - 1)));
        HttpResponse<Void> response = http.sendOnce(request.build(), handlers.get(), end);
        int status = response.statusCode();
        reason = status < 300 ? "ends before the last byte" : "answers %d".formatted(status);
        requested = RetryPolicy.requestedWait(response.headers(), Instant.now());
        if (status >= 300 && !HubHttp.isTemporary(status)) {
          if (isRenewed) {
            throw new InvalidInputException(
                "%s: %s %s; expected its bytes"
                    .formatted(name, current.address().getHost(), reason));
          }
          renew(current);
          isRenewed = true;
        }
      } catch (RangesIgnoredException e) {
        throw e;
      } catch (IOException e) {
        reason = HubHttp.reason(e);
      }
      if (end.getAsLong() > before) {
        failures = 0;
        isRenewed = false;
      } else {
        failures++;
      }
      if (end.getAsLong() < limit) {
        waitBeforeRetry(current, reason, failures, requested);
      }
    }
  }

  private void waitBeforeRetry(
      BlobLocation current, String reason, int failures, Optional<Duration> requested) {
    Duration wait = requested.orElse(RetryPolicy.backoff(Math.max(1, failures)));
    if (failures >= http.retries().attempts() || wait.compareTo(RetryPolicy.MAX_WAIT) > 0) {
      throw HubHttp.unreachable(current.address(), reason, failures, wait);
    }
    http.pause(wait);
  }

  private synchronized BlobLocation location() {
    return location;
  }

  /** Replaces a location that was refused, once for all threads that see the refusal. */
  private synchronized void renew(BlobLocation refused) {
    if (location == refused) {
      location = lookUp.get();
    }
  }
}
