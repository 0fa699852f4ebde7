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

/** The address of a blob store as a user types it: {@code DIR[,50GiB]} or {@code redis://…}. */
public sealed interface StoreAddress {
  /**
   * A folder on disk.
   *
   * @param budget in bytes; 0 for no limit
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

  /** A Redis server. Jedis classes load only when such an address is opened. */
  record RedisStoreAddress(RedisAddress server) implements StoreAddress {
    @Override
    public BlobTier open(Consumer<String> listener) {
      return new RedisTier(server, listener);
    }

    @Override
    public void check() {}
  }

  /**
   * Opens the tier.
   *
   * @param listener receives a sentence when the disk or the server fails
   */
  BlobTier open(Consumer<String> listener);

  /**
   * Checks the address for user errors, such as a folder that cannot be written. A Redis server may
   * be down temporarily and is not contacted.
   *
   * @throws InvalidInputException if blobs cannot be stored there
   */
  void check();

  /**
   * Parses an address. A folder name that contains a comma needs a budget after it, for example
   * {@code ,0}.
   *
   * @throws InvalidInputException if the text is not an address
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
