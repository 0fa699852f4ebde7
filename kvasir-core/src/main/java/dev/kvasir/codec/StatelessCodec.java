package dev.kvasir.codec;

import dev.kvasir.memory.MemoryPool;

/** A codec without state: one object serves all sequences. */
public interface StatelessCodec extends PageCodec, SequenceCodec {
  /** The snapshot kind of the empty state. */
  int NO_STATE = 0;

  @Override
  default SequenceCodec newSequence(MemoryPool pool) {
    return this;
  }

  @Override
  default boolean allowsDeferredCheck() {
    return true;
  }

  @Override
  default boolean hasIndependentLayers() {
    return true;
  }

  @Override
  default byte[] serializeState() {
    return SnapshotHeader.STATE.wrap(NO_STATE, 0, out -> {});
  }

  @Override
  default SequenceCodec resumeSequence(MemoryPool pool, byte[] state) {
    return SnapshotHeader.STATE.unwrap(
        state,
        NO_STATE,
        in -> {
          SnapshotHeader.STATE.requireRemaining(in, 0);
          return newSequence(pool);
        });
  }

  @Override
  default SequenceCodec fork() {
    return this;
  }
}
