package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.memory.SharedArena;
import java.nio.ByteBuffer;
import java.util.function.IntFunction;

/**
 * Where stored pages of a sequence are read to.
 *
 * @param memory that a page lies in
 * @param known ids of blocks whose first layer has been read
 * @param newTokens room for the ids of the block at a position
 */
record MeadReadContext(
    SharedArena memory, SequenceTokenIds known, IntFunction<BlockTokenIds> newTokenIds) {
  /** The ids that a page of the first layer brings along. */
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
