package dev.kvasir.codec.toy;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.memory.SharedArena;

/** A stateless codec of signs and magnitudes. */
record ToyCodec(int kvHeads, int keyDim, int valueDim) implements StatelessCodec {
  @Override
  public Page quantize(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    return ToyPage.pack(memory, this, keys, values);
  }

  @Override
  public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
    return ToyPage.read(memory, this, snapshot);
  }

  int signBytes() {
    return kvHeads * Page.TOKENS * (signBytes(keyDim) + signBytes(valueDim));
  }

  /** Returns the bytes of one vector's signs. */
  static int signBytes(int channels) {
    return Math.ceilDiv(channels, Byte.SIZE);
  }

  @Override
  public long pageBytes() {
    return signBytes() + 2L * kvHeads * Page.TOKENS * Short.BYTES;
  }

  @Override
  public long codeBytes() {
    return signBytes();
  }
}
