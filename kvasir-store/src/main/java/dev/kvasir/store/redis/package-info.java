/** A server of Redis or Valkey as a tier; the only package that knows Jedis. */
package dev.kvasir.store.redis;
