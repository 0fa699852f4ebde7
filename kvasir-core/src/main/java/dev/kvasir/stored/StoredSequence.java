package dev.kvasir.stored;

import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * A stored sequence, which refers to its blocks by name:
 *
 * <pre>
 *                identity: u16 and that many bytes of text for weights, model, spec, profile and
 *                tenant, then u32, its context limit
 * u16, bytes     the cache specification, as typed
 * u32            maximum tokens of the session
 * u8             1 if prompts are quantized only after prefill, else 0
 * i64            when it was stored, in seconds since 1970
 * u32            n, tokens of the text; i32 (n)
 * u32            how many of them are cached
 * u32            m, blocks; 32 bytes (m), their names
 *                the residual part, as the cache wrote it
 * </pre>
 *
 * @param cacheSpec the cache specification, as typed
 * @param length number of cached tokens
 * @param blocks names, in order
 * @param residual as returned by {@link dev.kvasir.cache.CacheSnapshot#residual}
 */
public record StoredSequence(
    Identity identity,
    String cacheSpec,
    int contextLimit,
    boolean defersQuantization,
    Instant storedAt,
    int[] tokens,
    int length,
    List<String> blocks,
    Snapshot residual) {
  private static final int KIND = 1;
  private static final SnapshotHeader HEADER = SnapshotHeader.STORED_SEQUENCE;

  public byte[] toBytes() {
    byte[] text = cacheSpec.getBytes(StandardCharsets.UTF_8);
    long bytes =
        identity.bytes()
            + Short.BYTES
            + text.length
            + Integer.BYTES
            + 1
            + Long.BYTES
            + Integer.BYTES * (3L + tokens.length)
            + (long) Sha256.BYTES * blocks.size()
            + residual.size();
    return HEADER.wrap(
        KIND,
        bytes,
        out -> {
          identity.write(out);
          out.putShort((short) text.length).put(text);
          out.putInt(contextLimit).put((byte) (defersQuantization ? 1 : 0));
          out.putLong(storedAt.getEpochSecond());
          IntArrays.write(tokens, out);
          out.putInt(length).putInt(blocks.size());
          blocks.forEach(name -> out.put(HexFormat.of().parseHex(name)));
          out.put(residual.bytes());
        });
  }

  /**
   * @throws dev.kvasir.error.InvalidInputException if a bit has changed; the message is one
   *     sentence
   */
  public static StoredSequence read(byte[] bytes) {
    return HEADER.unwrap(bytes, KIND, StoredSequence::read);
  }

  private static Instant instant(long seconds) {
    try {
      return Instant.ofEpochSecond(seconds);
    } catch (DateTimeException e) {
      throw HEADER.invalid("was stored %d seconds after 1970, which is no time".formatted(seconds));
    }
  }

  private static StoredSequence read(ByteBuffer in) {
    Identity identity = Identity.read(in);
    byte[] cacheSpec = new byte[Short.toUnsignedInt(in.getShort())];
    in.get(cacheSpec);
    int contextLimit = in.getInt();
    boolean defersQuantization = in.get() != 0;
    Instant storedAt = instant(in.getLong());
    int[] tokens = IntArrays.read(HEADER, in);
    int length = in.getInt();
    if (contextLimit < 1 || length < 0 || length > tokens.length) {
      throw HEADER.invalid(
          "holds %d of %d tokens, with a limit of %d"
              .formatted(length, tokens.length, contextLimit));
    }
    List<String> blocks = new ArrayList<>();
    byte[] name = new byte[Sha256.BYTES];
    for (int left = IntArrays.count(HEADER, in, Sha256.BYTES); left > 0; left--) {
      in.get(name);
      blocks.add(HexFormat.of().formatHex(name));
    }
    return new StoredSequence(
        identity,
        new String(cacheSpec, StandardCharsets.UTF_8),
        contextLimit,
        defersQuantization,
        storedAt,
        tokens,
        length,
        blocks,
        Snapshot.nested(in));
  }
}
