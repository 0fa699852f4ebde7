package dev.kvasir.codec.latent;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.memory.ObjectPool;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.CodeMatrix;
import dev.kvasir.page.CodeScratch;
import java.lang.foreign.MemorySegment;

/**
 * The rotary channels of keys, which follow the latent and are quantized separately.
 *
 * <pre>
 * (kvHeads) matrices of (rotary channels, 128 tokens)
 * </pre>
 *
 * @param latentDim channels of a latent
 * @param matrix the layout of a head's rotary channels
 */
record RotaryChannels(int kvHeads, int latentDim, CodeMatrix matrix) {
  private static final int TOKENS = Page.TOKENS;
  private static final ObjectPool<CodeScratch> SCRATCH = new ObjectPool<>(CodeScratch::new);

  static RotaryChannels of(CacheShape shape, RotaryWidth width) {
    int rotary = shape.keyDim() - shape.valueDim();
    return new RotaryChannels(shape.kvHeads(), shape.valueDim(), width.matrix(rotary));
  }

  /** Returns the number of rotary channels. */
  int count() {
    return matrix.rows();
  }

  int keyDim() {
    return latentDim + count();
  }

  long bytes() {
    return (long) kvHeads * matrix.bytes();
  }

  long codeBytes() {
    return (long) kvHeads * matrix.codeBytes();
  }

  long offset(int kvHead) {
    return (long) kvHead * matrix.bytes();
  }

  /**
   * Quantizes the rotary channels.
   *
   * @param keys (kvHeads, tokens, keyDim)
   */
  MemorySegment pack(SharedArena memory, float[] keys) {
    MemorySegment bytes = memory.allocate(bytes());
    CodeScratch scratch = SCRATCH.acquire();
    try {
      for (int head = 0; head < kvHeads; head++) {
        float[] rotary = scratch.values(count() * TOKENS);
        for (int token = 0; token < TOKENS; token++) {
          int at = (head * TOKENS + token) * keyDim() + latentDim;
          for (int channel = 0; channel < count(); channel++) {
            rotary[channel * TOKENS + token] = keys[at + channel];
          }
        }
        matrix.quantize(scratch, rotary, bytes, offset(head));
      }
      return bytes;
    } finally {
      SCRATCH.release(scratch);
    }
  }

  /**
   * Copies the latents of keys, without gaps, in place or into another array.
   *
   * @param keys (vectors, keyDim) from {@code at} on
   * @param latents (vectors, latentDim), set
   */
  void copyLatents(float[] keys, int at, int vectors, float[] latents) {
    for (int i = 0; i < vectors; i++) {
      System.arraycopy(keys, at + i * keyDim(), latents, i * latentDim, latentDim);
    }
  }

  /**
   * Dequantizes the rotary channels to their place after the latents.
   *
   * @param out (tokens, keyDim)
   */
  void expand(CodeScratch scratch, MemorySegment bytes, int kvHead, int tokens, float[] out) {
    float[] rotary = scratch.values(count() * TOKENS);
    matrix.dequantize(scratch, bytes, offset(kvHead), rotary);
    for (int token = 0; token < tokens; token++) {
      int at = token * keyDim() + latentDim;
      for (int channel = 0; channel < count(); channel++) {
        out[at + channel] = rotary[channel * TOKENS + token];
      }
    }
  }
}
