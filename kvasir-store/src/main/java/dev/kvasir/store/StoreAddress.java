package dev.kvasir.store;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.memory.ByteCount;
import dev.kvasir.store.folder.FolderTier;
import dev.kvasir.store.redis.RedisAddress;
import dev.kvasir.store.redis.RedisTier;
import dev.kvasir.store.tier.BlobTier;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.function.Consumer;

/** A place for blobs as a user types it: {@code DIR[,50GiB]} or {@code redis://…}. */
public sealed interface StoreAddress {
  /**
   * @param budget in bytes; 0 is none
   */
  record InFolder(Path folder, long budget) implements StoreAddress {
    @Override
    public BlobTier open(Consumer<String> listener) {
      return new FolderTier(folder, budget, listener);
    }
  }

  /** Classes of Jedis are loaded when it is opened, and else not at all. */
  record InRedis(RedisAddress server) implements StoreAddress {
    @Override
    public BlobTier open(Consumer<String> listener) {
      return new RedisTier(server, listener);
    }
  }

  /**
   * @param listener gets a sentence where the disk or the server fails
   */
  BlobTier open(Consumer<String> listener);

  /**
   * A folder whose name has a comma is typed with a budget behind it, if need be {@code ,0}.
   *
   * @throws InvalidInputException where it is none
   */
  static StoreAddress parse(String typed) {
    if (RedisAddress.isOne(typed)) {
      return new InRedis(RedisAddress.parse(typed));
    }
    int comma = typed.lastIndexOf(',');
    return comma < 0
        ? new InFolder(folder(typed, typed), 0)
        : new InFolder(folder(typed, typed.substring(0, comma)), budget(typed, comma));
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
