package dev.kvasir.hub;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/**
 * Downloads a file to {@code TAG.incomplete}, checks its hash and renames it.
 *
 * <p>Several connections fetch parts of {@value #PART_BYTES} bytes at once, but parts are written
 * in order: the file is always a beginning of the content, which any process can continue, and the
 * hash is computed along the way.
 */
final class BlobDownload {
  static final int PART_BYTES = 4 << 20;
  private static final int CONNECTIONS = 8;
  private static final int PROGRESS_MILLIS = 200;

  private final BlobSource source;
  private final Path incomplete;
  private final Path blob;
  private final Optional<BlobHash> expected;
  private final LongConsumer onProgress;

  /** A part that is on its way. */
  private record Part(ByteBuffer buffer, Future<Void> done) {}

  /**
   * @param incomplete where an earlier process may have left a beginning
   * @param expected hash of the content; without one only the size is checked
   * @param onProgress called on this thread with the bytes that are there
   */
  BlobDownload(
      BlobSource source,
      Path incomplete,
      Path blob,
      Optional<BlobHash> expected,
      LongConsumer onProgress) {
    this.source = source;
    this.incomplete = incomplete;
    this.blob = blob;
    this.expected = expected;
    this.onProgress = onProgress;
  }

  /**
   * @throws InvalidInputException if the bytes cannot be fetched or have another hash
   */
  void run() {
    try {
      boolean isResumed = bytesThere() > 0;
      String found = fetch();
      if (isResumed && !isExpected(found)) {
        // The beginning may be what is wrong.
        Files.delete(incomplete);
        found = fetch();
      }
      if (!isExpected(found)) {
        Files.delete(incomplete);
        throw new InvalidInputException(
            "%s: the %s of the download is %s; expected %s"
                .formatted(
                    source.name(), expected.get().algorithm(), found, expected.get().digits()));
      }
      Files.move(incomplete, blob, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new InvalidInputException(
          "%s: cannot be written: %s".formatted(incomplete, e.getMessage()), e);
    }
  }

  private boolean isExpected(String found) {
    return expected.isEmpty() || expected.get().digits().equals(found);
  }

  /** Returns the bytes of an earlier download; more than the file has are of no use. */
  private long bytesThere() throws IOException {
    if (!Files.exists(incomplete)) {
      return 0;
    }
    long bytes = Files.size(incomplete);
    if (bytes > source.size()) {
      Files.delete(incomplete);
      return 0;
    }
    return bytes;
  }

  /** Downloads what is missing and returns the hash of all. */
  private String fetch() throws IOException {
    MessageDigest digest = expected.orElse(new BlobHash("")).begin(source.size());
    try (FileChannel file =
        FileChannel.open(
            incomplete,
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      long there = bytesThere();
      hashBeginning(file, there, digest);
      onProgress.accept(there);
      try {
        fetchParts(file, there, digest);
      } catch (RangesIgnoredException e) {
        return fetchWhole(file);
      }
      file.force(true);
    }
    return BlobHash.digits(digest);
  }

  private static void hashBeginning(FileChannel file, long bytes, MessageDigest digest)
      throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(PART_BYTES);
    for (long at = 0; at < bytes; ) {
      buffer.clear().limit((int) Math.min(PART_BYTES, bytes - at));
      int count = file.read(buffer, at);
      if (count < 0) {
        throw new IOException("it became shorter");
      }
      digest.update(buffer.flip());
      at += count;
    }
  }

  private void fetchParts(FileChannel file, long there, MessageDigest digest) throws IOException {
    AtomicLong received = new AtomicLong(there);
    Deque<Part> onTheWay = new ArrayDeque<>();
    Deque<ByteBuffer> free = new ArrayDeque<>();
    ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    try {
      long next = there;
      long written = there;
      while (written < source.size()) {
        while (onTheWay.size() < CONNECTIONS && next < source.size()) {
          int bytes = (int) Math.min(PART_BYTES, source.size() - next);
          ByteBuffer buffer = free.isEmpty() ? ByteBuffer.allocate(bytes(bytes)) : free.pop();
          onTheWay.add(submit(threads, next, buffer.clear().limit(bytes), received));
          next += bytes;
        }
        Part part = onTheWay.remove();
        await(part, received);
        written += append(file, written, part.buffer().flip(), digest);
        free.push(part.buffer());
      }
      onProgress.accept(written);
    } finally {
      threads.shutdownNow();
    }
  }

  /** A small file needs no whole buffer. */
  private int bytes(int needed) {
    return source.size() <= PART_BYTES ? needed : PART_BYTES;
  }

  private Part submit(ExecutorService threads, long from, ByteBuffer buffer, AtomicLong received) {
    return new Part(
        buffer,
        threads.submit(
            () -> {
              source.read(from, buffer, received);
              return null;
            }));
  }

  private void await(Part part, AtomicLong received) throws IOException {
    while (true) {
      try {
        part.done().get(PROGRESS_MILLIS, TimeUnit.MILLISECONDS);
        onProgress.accept(received.get());
        return;
      } catch (TimeoutException e) {
        onProgress.accept(received.get());
      } catch (ExecutionException e) {
        switch (e.getCause()) {
          case RangesIgnoredException ignored -> throw ignored;
          case RuntimeException failure -> throw failure;
          default -> throw new IllegalStateException(e.getCause());
        }
      } catch (InterruptedException e) {
        throw HubHttp.interrupted();
      }
    }
  }

  private static int append(FileChannel file, long at, ByteBuffer bytes, MessageDigest digest)
      throws IOException {
    digest.update(bytes.duplicate());
    int count = bytes.remaining();
    long position = at;
    while (bytes.hasRemaining()) {
      position += file.write(bytes, position);
    }
    return count;
  }

  /** Downloads from a server without ranges, over one connection from the first byte. */
  private String fetchWhole(FileChannel file) throws IOException {
    AtomicLong written = new AtomicLong();
    MessageDigest[] digest = new MessageDigest[1];
    source.readAll(
        () -> {
          written.set(0);
          digest[0] = expected.orElse(new BlobHash("")).begin(source.size());
          return bytes -> {
            if (written.get() + bytes.remaining() > source.size()) {
              throw new ProtocolException("it is longer than the file");
            }
            written.addAndGet(append(file, written.get(), bytes, digest[0]));
          };
        },
        written::get);
    file.force(true);
    onProgress.accept(written.get());
    return BlobHash.digits(digest[0]);
  }
}
