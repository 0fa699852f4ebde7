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
 * A sequence as it is stored, but for its blocks, which it names:
 *
 * <pre>
 *                identity: u16 and that many bytes of text for weights, model, spec, profile and
 *                tenant, then u32, its context limit
 * u16, bytes     the kind of cache, as it was typed
 * u32            tokens that the session may hold
 * u8             1 if prompts are packed only when they have been read, else 0
 * i64            when it was stored, in seconds since 1970
 * u32            n, tokens of the text; i32 (n)
 * u32            how many of them keys and values are there of
 * u32            m, blocks; 32 bytes (m), their names
 *                the rest, as the cache wrote it
 * </pre>
 *
 * @param typed the kind of cache, as it was typed
 * @param length tokens that keys and values are there of
 * @param blocks names, in their order
 * @param rest as {@link dev.kvasir.cache.CacheSnapshot#residual} has it
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
  private static final SnapshotHeader FORM = SnapshotHeader.STORED_SEQUENCE;

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
    return FORM.wrap(
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
   * @throws dev.kvasir.error.InvalidInputException in one sentence, where a bit of it has changed
   */
  public static StoredSequence read(byte[] form) {
    return FORM.unwrap(form, KIND, StoredSequence::read);
  }

  private static Instant instant(long seconds) {
    try {
      return Instant.ofEpochSecond(seconds);
    } catch (DateTimeException e) {
      throw FORM.invalid("was stored %d seconds after 1970, which is no time".formatted(seconds));
    }
  }

  private static StoredSequence read(ByteBuffer in) {
    Identity identity = Identity.read(in);
    byte[] cacheSpec = new byte[Short.toUnsignedInt(in.getShort())];
    in.get(cacheSpec);
    int contextLimit = in.getInt();
    boolean defersQuantization = in.get() != 0;
    Instant storedAt = instant(in.getLong());
    int[] tokens = IntArrays.read(FORM, in);
    int length = in.getInt();
    if (contextLimit < 1 || length < 0 || length > tokens.length) {
      throw FORM.invalid(
          "holds %d of %d tokens, with a limit of %d"
              .formatted(length, tokens.length, contextLimit));
    }
    List<String> blocks = new ArrayList<>();
    byte[] name = new byte[Sha256.BYTES];
    for (int left = IntArrays.count(FORM, in, Sha256.BYTES); left > 0; left--) {
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
