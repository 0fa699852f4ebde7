/** Stores of cached prefixes: folders and Redis servers. */
module dev.kvasir.store {
  requires transitive dev.kvasir.core;
  requires redis.clients.jedis;

  exports dev.kvasir.store to
      dev.kvasir.bench,
      dev.kvasir.cli,
      dev.kvasir.server;
  exports dev.kvasir.store.prefix to
      dev.kvasir.bench,
      dev.kvasir.server;
  exports dev.kvasir.store.tier to
      dev.kvasir.server;

  provides dev.kvasir.spi.PrefixStoreProvider with
      dev.kvasir.store.prefix.ConversationStoreProvider;
}
