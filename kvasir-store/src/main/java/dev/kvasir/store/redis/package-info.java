/**
 * A tier in a Redis or Valkey server, {@link dev.kvasir.store.redis.RedisTier}, and its address,
 * {@link dev.kvasir.store.redis.RedisAddress}. This is the only package that uses Jedis. Of Kvasir
 * it uses {@code store.tier} and the exceptions of kvasir-core.
 */
package dev.kvasir.store.redis;
