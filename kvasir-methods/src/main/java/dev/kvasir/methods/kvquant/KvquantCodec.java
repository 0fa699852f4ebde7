package dev.kvasir.methods.kvquant;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.memory.SharedArena;
import java.util.Optional;

/**
 * Codec of KVQuant. Keys are quantized per channel before RoPE, where channels keep to a range, and
 * values per token. Levels are fitted to each page.
 *
 * @param rotation undone before keys are quantized; empty to quantize them after RoPE
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
