package dev.kvasir.codec.latent;

import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Form;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.GridHeader;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * A layer's keys of latent attention: latents as the method packs them, and the channels that turn
 * beside them. Values are the latents. Stored:
 *
 * <pre>
 * u16  KV heads
 *      a GridHeader of the channels that turn
 *      their bytes
 *      the stored page of the latents
 * </pre>
 */
final class LatentPage implements Page {
  /** Its number among stored pages. */
  private static final int KIND = 48;

  private final SharedArena memory;
  private final RotaryChannels rotary;
  private final MemorySegment turned;
  private final Page latents;

  /**
   * Takes the latents over.
   *
   * @param memory that the channels that turn lie in
   */
  LatentPage(SharedArena memory, RotaryChannels rotary, MemorySegment turned, Page latents) {
    this.memory = memory.retain();
    this.rotary = rotary;
    this.turned = turned;
    this.latents = latents;
  }

  @Override
  public byte[] form() {
    byte[] latentForm = latents.form();
    return Envelope.PAGE.seal(
        KIND,
        Short.BYTES + GridHeader.BYTES + turned.byteSize() + latentForm.length,
        out -> {
          out.putShort((short) rotary.kvHeads());
          rotary.grid().header().write(out);
          out.put(turned.asByteBuffer()).put(latentForm);
        });
  }

  /** Reads what {@link #form} wrote. */
  static LatentPage read(
      SharedArena memory, RotaryChannels rotary, SequenceCodec codec, int layer, Form form) {
    return Envelope.PAGE.open(form, KIND, in -> read(memory, rotary, codec, layer, in));
  }

  private static LatentPage read(
      SharedArena memory, RotaryChannels rotary, SequenceCodec codec, int layer, ByteBuffer in) {
    int kvHeads = Short.toUnsignedInt(in.getShort());
    GridHeader header = GridHeader.read(in);
    if (kvHeads != rotary.kvHeads() || !header.equals(rotary.grid().header())) {
      throw Envelope.PAGE.refused(
          "has %d KV heads with channels that turn of %s; this cache has %d of %s"
              .formatted(kvHeads, header, rotary.kvHeads(), rotary.grid().header()));
    }
    if (in.remaining() < rotary.bytes()) {
      Envelope.PAGE.requireRest(in, rotary.bytes());
    }
    ByteBuffer turned = Form.within(in, (int) rotary.bytes()).bytes();
    Page latents =
        codec.read(memory, layer, Form.of(in)); // whose checksum this page does not write
    try {
      MemorySegment own = memory.keep(MemorySegment.ofBuffer(turned));
      return new LatentPage(memory, rotary, own, latents);
    } catch (RuntimeException | Error e) {
      latents.close();
      throw e;
    }
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return readers.of(LatentReader.KIND);
  }

  /** As the method packed them. */
  Page latents() {
    return latents;
  }

  RotaryChannels rotary() {
    return rotary;
  }

  /** The channels that turn, packed. */
  MemorySegment turned() {
    return turned;
  }

  @Override
  public void expandKeys(PageRoom room, int kvHead, int tokens, float[] out) {
    int latent = rotary.latent();
    float[] apart = room.of(Latents.class, Latents::new).of(tokens * latent);
    latents.expandKeys(room, kvHead, tokens, apart);
    for (int token = 0; token < tokens; token++) {
      System.arraycopy(apart, token * latent, out, token * rotary.keyDim(), latent);
    }
    rotary.expand(room.codes(), turned, kvHead, tokens, out);
  }

  /** A worker's room for latents on their way into keys. */
  private static final class Latents {
    private float[] vectors = {};

    float[] of(int count) {
      vectors = vectors.length < count ? new float[count] : vectors;
      return vectors;
    }
  }

  @Override
  public void expandValues(PageRoom room, int kvHead, int tokens, float[] out) {
    latents.expandValues(room, kvHead, tokens, out);
  }

  /** The same page with narrower latents, which are taken over. */
  LatentPage withLatents(SharedArena other, Page narrower) {
    MemorySegment copy = other.allocate(rotary.bytes()).copyFrom(turned);
    return new LatentPage(other, rotary, copy, narrower);
  }

  @Override
  public long codeBytes() {
    return latents.codeBytes() + rotary.codeBytes();
  }

  @Override
  public long scaleBytes() {
    return latents.scaleBytes() + rotary.bytes() - rotary.codeBytes();
  }

  @Override
  public void close() {
    latents.close();
    memory.release();
  }
}
