package dev.kvasir.codec.latent;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.CodeMatrixHeader;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * A layer's keys of latent attention: the method's page of latents, and the rotary channels. Values
 * are the latents. Serialized:
 *
 * <pre>
 * u16  KV heads
 *      a CodeMatrixHeader of the rotary channels
 *      their bytes
 *      the serialized page of the latents
 * </pre>
 */
final class LatentPage implements Page {
  /** The snapshot kind of this page. */
  private static final int KIND = 48;

  private final SharedArena memory;
  private final RotaryChannels rotary;
  private final MemorySegment rotaryCodes;
  private final Page latents;

  /**
   * Creates a page that owns the given page of latents.
   *
   * @param memory the memory of the rotary codes
   */
  LatentPage(SharedArena memory, RotaryChannels rotary, MemorySegment rotaryCodes, Page latents) {
    this.memory = memory.retain();
    this.rotary = rotary;
    this.rotaryCodes = rotaryCodes;
    this.latents = latents;
  }

  @Override
  public byte[] serialize() {
    byte[] latentForm = latents.serialize();
    return SnapshotHeader.PAGE.wrap(
        KIND,
        Short.BYTES + CodeMatrixHeader.BYTES + rotaryCodes.byteSize() + latentForm.length,
        out -> {
          out.putShort((short) rotary.kvHeads());
          rotary.matrix().header().write(out);
          out.put(rotaryCodes.asByteBuffer()).put(latentForm);
        });
  }

  /** Reads a page written by {@link #serialize}. */
  static LatentPage deserialize(
      SharedArena memory,
      RotaryChannels rotary,
      SequenceCodec codec,
      int layer,
      Snapshot snapshot) {
    return SnapshotHeader.PAGE.unwrap(
        snapshot, KIND, in -> deserialize(memory, rotary, codec, layer, in));
  }

  private static LatentPage deserialize(
      SharedArena memory, RotaryChannels rotary, SequenceCodec codec, int layer, ByteBuffer in) {
    int kvHeads = Short.toUnsignedInt(in.getShort());
    CodeMatrixHeader header = CodeMatrixHeader.read(in);
    if (kvHeads != rotary.kvHeads() || !header.equals(rotary.matrix().header())) {
      throw SnapshotHeader.PAGE.invalid(
          "has %d KV heads with rotary channels of %s; this cache has %d of %s"
              .formatted(kvHeads, header, rotary.kvHeads(), rotary.matrix().header()));
    }
    if (in.remaining() < rotary.bytes()) {
      SnapshotHeader.PAGE.requireRemaining(in, rotary.bytes());
    }
    ByteBuffer rotaryCodes = Snapshot.nested(in, (int) rotary.bytes()).bytes();
    Page latents =
        codec.deserialize(memory, layer, Snapshot.of(in)); // verified by its own checksum
    try {
      MemorySegment own = memory.adopt(MemorySegment.ofBuffer(rotaryCodes));
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

  /** Returns the method's page of latents. */
  Page latents() {
    return latents;
  }

  RotaryChannels rotary() {
    return rotary;
  }

  /** Returns the quantized rotary channels. */
  MemorySegment rotaryCodes() {
    return rotaryCodes;
  }

  @Override
  public void dequantizeKeys(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    int latentDim = rotary.latentDim();
    float[] latentKeys =
        workspace.scratch(LatentScratch.class, LatentScratch::new).of(tokens * latentDim);
    latents.dequantizeKeys(workspace, kvHead, tokens, latentKeys);
    for (int token = 0; token < tokens; token++) {
      System.arraycopy(latentKeys, token * latentDim, out, token * rotary.keyDim(), latentDim);
    }
    rotary.expand(workspace.codes(), rotaryCodes, kvHead, tokens, out);
  }

  /** A worker's buffer for latents that are copied into keys. */
  private static final class LatentScratch {
    private float[] vectors = {};

    float[] of(int count) {
      vectors = vectors.length < count ? new float[count] : vectors;
      return vectors;
    }
  }

  @Override
  public void dequantizeValues(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    latents.dequantizeValues(workspace, kvHead, tokens, out);
  }

  /** Returns a copy with requantized latents, which it owns. */
  LatentPage withLatents(SharedArena other, Page requantized) {
    MemorySegment copy = other.allocate(rotary.bytes()).copyFrom(rotaryCodes);
    return new LatentPage(other, rotary, copy, requantized);
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
