package dev.kvasir.store.beginning;

import dev.kvasir.cache.CacheForm;
import dev.kvasir.cache.KvCache;
import dev.kvasir.store.TieredBlobs;
import dev.kvasir.store.tier.BlobName;
import dev.kvasir.stored.Blocks;
import dev.kvasir.stored.Identity;
import dev.kvasir.stored.StoredSequence;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Makes blobs of beginnings on a thread of its own. The record comes after its blocks: whoever
 * finds it finds them. Few may wait, since what waits holds memory that sessions could use.
 */
final class BeginningWriter {
  private static final int MOST_WAITING = 8;

  private final TieredBlobs blobs;
  private final ThreadPoolExecutor thread =
      new ThreadPoolExecutor(
          1,
          1,
          0,
          TimeUnit.SECONDS,
          new ArrayBlockingQueue<>(MOST_WAITING),
          Thread.ofPlatform().daemon().name("kvasir-beginnings").factory(),
          (work, pool) -> ((Writing) work).cache().close());

  BeginningWriter(TieredBlobs blobs) {
    this.blobs = blobs;
  }

  /** A beginning that waits; its cache is closed in any case. */
  private record Writing(
      TieredBlobs blobs, Identity identity, int limit, int[] tokens, KvCache cache)
      implements Runnable {
    @Override
    public void run() {
      cache.enter();
      try {
        write(cache.form());
      } finally {
        cache.leave();
        cache.close();
      }
    }

    private void write(CacheForm form) {
      List<String> names =
          Blocks.write(
              identity, tokens, form, (name, block) -> blobs.write(blockName(name), block));
      StoredSequence sequence =
          new StoredSequence(
              identity,
              identity.spec(),
              limit,
              false,
              Instant.now(),
              tokens,
              form.length(),
              names,
              form.rest());
      BlobName record = StepKeys.last(identity, tokens, tokens.length);
      blobs.write(record, sequence.form());
      // What was written first is not what should leave first: it serves the most texts.
      blobs.used(
          Stream.concat(names.stream().map(BeginningWriter::blockName), Stream.of(record))
              .toList());
    }
  }

  static BlobName blockName(String hex) {
    return BlobName.block(HexFormat.of().parseHex(hex));
  }

  /**
   * @param text may be longer than what the cache holds of it
   * @return whether it will be written
   */
  boolean write(Identity identity, int limit, int[] text, KvCache cache) {
    if (thread.isShutdown() || thread.getQueue().remainingCapacity() == 0) {
      cache.close();
      return false;
    }
    int[] tokens = Arrays.copyOf(text, cache.length());
    thread.execute(new Writing(blobs, identity, limit, tokens, cache));
    return true;
  }

  /** Waits until all that was asked for has been given to the tiers, or so long. */
  boolean finish(Duration time) {
    thread.shutdown();
    try {
      return thread.awaitTermination(time.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
