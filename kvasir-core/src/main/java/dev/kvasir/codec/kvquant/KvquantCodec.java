package dev.kvasir.codec.kvquant;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.memory.SharedArena;
import java.util.Optional;

/**
 * KVQuant: channels of keys as they were before rotation, where they hold to a range, and values of
 * tokens, both at levels that are fitted to a page.
 *
 * @param rotation that keys are turned back by; empty where they are packed as they are
 */
record KvquantCodec(
    int kvHeads, NonUniformCodes keys, NonUniformCodes values, Optional<Rotation> rotation)
    implements StatelessCodec {
  @Override
  public Page quantize(
      SharedArena memory, int layer, int position, float[] ofKeys, float[] ofValues) {
    return KvquantPage.quantize(memory, this, position, ofKeys, ofValues);
  }

  @Override
  public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
    return KvquantPage.read(memory, snapshot, this);
  }

  long headBytes() {
    return keys.bytes() + values.bytes();
  }

  @Override
  public long pageBytes() {
    return kvHeads * headBytes();
  }

  @Override
  public long codeBytes() {
    return (long) kvHeads * (keys.codeBytes() + values.codeBytes());
  }
}
