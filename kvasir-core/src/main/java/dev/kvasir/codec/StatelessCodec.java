package dev.kvasir.codec;

import dev.kvasir.memory.MemoryPool;

/** A method that keeps nothing of a sequence: one object serves them all. */
public interface StatelessCodec extends PageCodec, SequenceCodec {
  /** The number of an empty state among stored ones. */
  int NO_STATE = 0;

  @Override
  default SequenceCodec begin(MemoryPool pool) {
    return this;
  }

  @Override
  default boolean canCheckLater() {
    return true;
  }

  @Override
  default boolean packsLayersApart() {
    return true;
  }

  @Override
  default byte[] state() {
    return Envelope.STATE.seal(NO_STATE, 0, out -> {});
  }

  @Override
  default SequenceCodec resume(MemoryPool pool, byte[] state) {
    return Envelope.STATE.open(
        state,
        NO_STATE,
        in -> {
          Envelope.STATE.requireRest(in, 0);
          return begin(pool);
        });
  }

  @Override
  default SequenceCodec fork() {
    return this;
  }
}
