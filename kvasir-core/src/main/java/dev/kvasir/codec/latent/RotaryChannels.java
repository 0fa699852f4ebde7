package dev.kvasir.codec.latent;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.memory.Spares;
import dev.kvasir.page.CodeGrid;
import dev.kvasir.page.CodeRoom;
import java.lang.foreign.MemorySegment;

/**
 * The channels of keys that turn, which lie behind the latent and are packed beside it.
 *
 * <pre>
 * (kvHeads) grids of (rotary channels, 128 tokens)
 * </pre>
 *
 * @param latent channels of a latent
 * @param grid what those of a head are packed to
 */
record RotaryChannels(int kvHeads, int latent, CodeGrid grid) {
  private static final int TOKENS = Page.TOKENS;
  private static final Spares<CodeRoom> ROOMS = new Spares<>(CodeRoom::new);

  static RotaryChannels of(CacheShape shape, RotaryWidth width) {
    int rotary = shape.keyDim() - shape.valueDim();
    return new RotaryChannels(shape.kvHeads(), shape.valueDim(), width.grid(rotary));
  }

  /** How many turn. */
  int count() {
    return grid.entries();
  }

  int keyDim() {
    return latent + count();
  }

  long bytes() {
    return (long) kvHeads * grid.bytes();
  }

  long codeBytes() {
    return (long) kvHeads * grid.codeBytes();
  }

  long offset(int kvHead) {
    return (long) kvHead * grid.bytes();
  }

  /**
   * Packs the channels that turn.
   *
   * @param keys (kvHeads, tokens, keyDim)
   */
  MemorySegment pack(SharedArena memory, float[] keys) {
    MemorySegment bytes = memory.allocate(bytes());
    CodeRoom room = ROOMS.take();
    try {
      for (int head = 0; head < kvHeads; head++) {
        float[] turned = room.grid(count() * TOKENS);
        for (int token = 0; token < TOKENS; token++) {
          int at = (head * TOKENS + token) * keyDim() + latent;
          for (int channel = 0; channel < count(); channel++) {
            turned[channel * TOKENS + token] = keys[at + channel];
          }
        }
        grid.pack(room, turned, bytes, offset(head));
      }
      return bytes;
    } finally {
      ROOMS.giveBack(room);
    }
  }

  /**
   * Moves vectors together until nothing but latents is left, in place or into another array.
   *
   * @param keys (vectors, keyDim) from {@code at} on
   * @param latents (vectors, latent), set
   */
  void latentsOf(float[] keys, int at, int vectors, float[] latents) {
    for (int i = 0; i < vectors; i++) {
      System.arraycopy(keys, at + i * keyDim(), latents, i * latent, latent);
    }
  }

  /**
   * Puts the channels that turn behind their latents.
   *
   * @param out (tokens, keyDim)
   */
  void expand(CodeRoom room, MemorySegment bytes, int kvHead, int tokens, float[] out) {
    float[] turned = room.grid(count() * TOKENS);
    grid.expand(room, bytes, offset(kvHead), turned);
    for (int token = 0; token < tokens; token++) {
      int at = token * keyDim() + latent;
      for (int channel = 0; channel < count(); channel++) {
        out[at + channel] = turned[channel * TOKENS + token];
      }
    }
  }
}
