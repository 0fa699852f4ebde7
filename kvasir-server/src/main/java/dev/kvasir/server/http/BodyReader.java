package dev.kvasir.server.http;

import dev.kvasir.server.api.ApiException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.function.LongSupplier;

/** Reads the body of a request, within limits of its size and time. */
final class BodyReader {
  /** Time for any body, however small. */
  private static final long GRACE_NANOS = 30_000_000_000L;

  /** The least average speed of what takes longer than that: a slow mobile connection. */
  private static final long MIN_BYTES_PER_SECOND = 10_000;

  /**
   * Maximum bytes of a body that are read and dropped after it was found too large: a client that
   * is still sending when the connection closes loses the response.
   */
  private static final int MAX_DROPPED_BYTES = 64 << 20;

  private final InputStream in;
  private final LongSupplier nanoTime;
  private final long begin;
  private final byte[] buffer = new byte[1 << 13];
  private long total;

  /**
   * @param nanoTime the clock, as {@link System#nanoTime}
   */
  BodyReader(InputStream in, LongSupplier nanoTime) {
    this.in = in;
    this.nanoTime = nanoTime;
    this.begin = nanoTime.getAsLong();
  }

  /**
   * @throws ApiException if there are more bytes, or they arrive too slowly. The connection cannot
   *     be reused then.
   */
  byte[] read(int maxBytes) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int count = next(); count >= 0; count = next()) {
      if (total > maxBytes) {
        drop(MAX_DROPPED_BYTES);
        throw ApiException.tooLarge(
            "the request has more than %d bytes, which is the most".formatted(maxBytes));
      }
      bytes.write(buffer, 0, count);
    }
    return bytes.toByteArray();
  }

  private void drop(int maxBytes) throws IOException {
    long end = total + maxBytes;
    while (total < end && next() >= 0) {
      // It is not needed.
    }
  }

  private int next() throws IOException {
    int count = in.read(buffer);
    total += Math.max(0, count);
    double seconds = (double) total / MIN_BYTES_PER_SECOND;
    if (nanoTime.getAsLong() - begin > GRACE_NANOS + (long) (seconds * 1e9)) {
      throw ApiException.tooSlow(
          "the request arrives too slowly; expected %d bytes per second"
              .formatted(MIN_BYTES_PER_SECOND));
    }
    return count;
  }
}
