package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.memory.SharedArena;
import java.nio.ByteBuffer;
import java.util.function.IntFunction;

/**
 * Where a sequence's serialized pages are read into.
 *
 * @param memory memory of the page
 * @param known token ids of blocks whose first layer has been read
 * @param newTokenIds allocates the ids of the block at a position
 */
record MeadReadContext(
    SharedArena memory, SequenceTokenIds known, IntFunction<BlockTokenIds> newTokenIds) {
  /** Reads the token ids that a first-layer page stores. */
  BlockTokenIds readTokenIds(ByteBuffer in, int position) {
    BlockTokenIds tokens = newTokenIds.apply(position);
    for (int token = 0; token < Page.TOKENS; token++) {
      int id = in.getInt();
      if (id < 0) {
        tokens.release();
        throw SnapshotHeader.PAGE.invalid("has token %d; expected 0 or more".formatted(id));
      }
      tokens.set(token, id);
    }
    return tokens;
  }
}
