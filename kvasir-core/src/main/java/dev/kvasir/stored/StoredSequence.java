package dev.kvasir.stored;

import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Form;
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
 * @param rest as {@link dev.kvasir.cache.CacheForm#rest} has it
 */
public record StoredSequence(
    Identity identity,
    String typed,
    int contextLimit,
    boolean readsExactly,
    Instant storedAt,
    int[] tokens,
    int length,
    List<String> blocks,
    Form rest) {
  private static final int KIND = 1;
  private static final Envelope FORM = Envelope.STORED_SEQUENCE;

  public byte[] form() {
    byte[] text = typed.getBytes(StandardCharsets.UTF_8);
    long bytes =
        identity.bytes()
            + Short.BYTES
            + text.length
            + Integer.BYTES
            + 1
            + Long.BYTES
            + Integer.BYTES * (3L + tokens.length)
            + (long) Sha256.BYTES * blocks.size()
            + rest.size();
    return FORM.seal(
        KIND,
        bytes,
        out -> {
          identity.write(out);
          out.putShort((short) text.length).put(text);
          out.putInt(contextLimit).put((byte) (readsExactly ? 1 : 0));
          out.putLong(storedAt.getEpochSecond());
          Integers.write(tokens, out);
          out.putInt(length).putInt(blocks.size());
          blocks.forEach(name -> out.put(HexFormat.of().parseHex(name)));
          out.put(rest.bytes());
        });
  }

  /**
   * @throws dev.kvasir.error.InvalidInputException in one sentence, where a bit of it has changed
   */
  public static StoredSequence read(byte[] form) {
    return FORM.open(form, KIND, StoredSequence::read);
  }

  private static Instant instant(long seconds) {
    try {
      return Instant.ofEpochSecond(seconds);
    } catch (DateTimeException e) {
      throw FORM.refused("was stored %d seconds after 1970, which is no time".formatted(seconds));
    }
  }

  private static StoredSequence read(ByteBuffer in) {
    Identity identity = Identity.read(in);
    byte[] typed = new byte[Short.toUnsignedInt(in.getShort())];
    in.get(typed);
    int contextLimit = in.getInt();
    boolean readsExactly = in.get() != 0;
    Instant storedAt = instant(in.getLong());
    int[] tokens = Integers.read(FORM, in);
    int length = in.getInt();
    if (contextLimit < 1 || length < 0 || length > tokens.length) {
      throw FORM.refused(
          "holds %d of %d tokens, with a limit of %d"
              .formatted(length, tokens.length, contextLimit));
    }
    List<String> blocks = new ArrayList<>();
    byte[] name = new byte[Sha256.BYTES];
    for (int left = Integers.count(FORM, in, Sha256.BYTES); left > 0; left--) {
      in.get(name);
      blocks.add(HexFormat.of().formatHex(name));
    }
    return new StoredSequence(
        identity,
        new String(typed, StandardCharsets.UTF_8),
        contextLimit,
        readsExactly,
        storedAt,
        tokens,
        length,
        blocks,
        Form.within(in));
  }
}
