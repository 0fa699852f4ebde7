package dev.kvasir.store.redis;

import redis.clients.jedis.Connection;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisSocketFactory;
import redis.clients.jedis.PushConsumerChain;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.util.RedisInputStream;

/**
 * A connection that checks the length of a reply before allocating memory. Jedis allocates whatever
 * length a server sends, and clearing two gigabytes stalls all threads for seconds. No command here
 * returns a list.
 */
final class BoundedConnection extends Connection {
  /** The longest reply, and so the largest blob: several times the largest blob of a session. */
  static final int MAX_BYTES = 256 << 20;

  private boolean expectsBlob;

  BoundedConnection(JedisSocketFactory sockets, JedisClientConfig settings) {
    super(sockets, settings);
  }

  /** Reads a requested value, or null. A status such as OK in its place is an error. */
  byte[] blob() {
    expectsBlob = true;
    byte[] blob = getBinaryBulkReply();
    expectsBlob = false;
    return blob;
  }

  @Override
  protected Object protocolRead(RedisInputStream in, PushConsumerChain pushes) {
    if (in.peek((byte) '$')) {
      in.readByte();
      return bytes(in);
    }
    if (in.peek((byte) '-') || !expectsBlob && (in.peek((byte) '+') || in.peek((byte) ':'))) {
      return super.protocolRead(in, pushes); // throws for errors
    }
    throw new JedisConnectionException("an answer begins like none that was asked for");
  }

  /** Reads a bulk reply; null if the key does not exist. */
  private static byte[] bytes(RedisInputStream in) {
    long length = in.readLongCrLf();
    if (length == -1) {
      return null;
    }
    if (length < 0 || length > MAX_BYTES) {
      throw new JedisConnectionException(
          "an answer has %d bytes; expected at most %d".formatted(length, MAX_BYTES));
    }
    byte[] bytes = new byte[(int) length];
    for (int at = 0; at < bytes.length; ) {
      int count = in.read(bytes, at, bytes.length - at);
      if (count < 0) {
        throw new JedisConnectionException("an answer ends in its midst");
      }
      at += count;
    }
    requireEnd(in);
    return bytes;
  }

  private static void requireEnd(RedisInputStream in) {
    if (in.readByte() != '\r' || in.readByte() != '\n') {
      throw new JedisConnectionException("an answer does not end where it should");
    }
  }
}
