package dev.kvasir.store;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.memory.ByteCount;
import dev.kvasir.store.folder.FolderTier;
import dev.kvasir.store.redis.RedisAddress;
import dev.kvasir.store.redis.RedisTier;
import dev.kvasir.store.tier.BlobTier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.function.Consumer;

/** A place for blobs as a user types it: {@code DIR[,50GiB]} or {@code redis://…}. */
public sealed interface StoreAddress {
  /**
   * @param budget in bytes; 0 is none
   */
  record FolderAddress(Path folder, long budget) implements StoreAddress {
    @Override
    public BlobTier open(Consumer<String> listener) {
      return new FolderTier(folder, budget, listener);
    }

    @Override
    public void check() {
      try {
        Files.createDirectories(folder);
        Files.delete(Files.createTempFile(folder, "try", ".part"));
      } catch (IOException e) {
        throw new InvalidInputException(
            "the store %s cannot be written; expected a folder that this user may write to"
                .formatted(folder),
            e);
      }
    }
  }

  /** Classes of Jedis are loaded when it is opened, and else not at all. */
  record RedisStoreAddress(RedisAddress server) implements StoreAddress {
    @Override
    public BlobTier open(Consumer<String> listener) {
      return new RedisTier(server, listener);
    }

    @Override
    public void check() {}
  }

  /**
   * @param listener gets a sentence where the disk or the server fails
   */
  BlobTier open(Consumer<String> listener);

  /**
   * Makes sure that blobs can be kept there, as far as a user can be at fault. A server may be away
   * for a while and is not asked.
   *
   * @throws InvalidInputException where they cannot
   */
  void check();

  /**
   * A folder whose name has a comma is typed with a budget behind it, if need be {@code ,0}.
   *
   * @throws InvalidInputException where it is none
   */
  static StoreAddress parse(String typed) {
    if (RedisAddress.isRedisUri(typed)) {
      return new RedisStoreAddress(RedisAddress.parse(typed));
    }
    int comma = typed.lastIndexOf(',');
    return comma < 0
        ? new FolderAddress(folder(typed, typed), 0)
        : new FolderAddress(folder(typed, typed.substring(0, comma)), budget(typed, comma));
  }

  private static Path folder(String typed, String name) {
    if (name.isBlank() || name.contains("://")) {
      throw new InvalidInputException(
          "the store is '%s'; expected DIR, DIR,50GiB, redis://HOST:PORT or rediss://HOST:PORT"
              .formatted(typed.replaceFirst("://.*@", "://***@")));
    }
    try {
      return Path.of(name);
    } catch (InvalidPathException e) {
      throw new InvalidInputException("the store '%s' is no name of a folder".formatted(name), e);
    }
  }

  private static long budget(String typed, int comma) {
    String size = typed.substring(comma + 1);
    return size.equals("0")
        ? 0
        : ByteCount.parse("the budget of the store " + typed.substring(0, comma), size);
  }
}
