package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.SnapshotHeader;
import java.util.ArrayList;
import java.util.List;

/**
 * The ids of a sequence's blocks, as its pages hold them: for the pages of a block's other layers,
 * and for tokens that are taken out of a page that is cut.
 */
final class SequenceTokenIds {
  private final List<BlockTokenIds> blocks = new ArrayList<>(); // by position

  /** Takes over what a page of the first layer refers to; what stood there is forgotten. */
  void add(BlockTokenIds tokens) {
    removeFrom(tokens.position());
    blocks.add(tokens.retain());
  }

  private void removeFrom(int position) {
    while (!blocks.isEmpty() && blocks.getLast().position() >= position) {
      blocks.removeLast().release();
    }
  }

  /** The ids of the block that begins at a position, held for whoever asks. */
  BlockTokenIds of(int position) {
    return requireLast(position).retain();
  }

  private BlockTokenIds requireLast(int position) {
    if (blocks.isEmpty() || blocks.getLast().position() != position) {
      throw new IllegalStateException(
          "the first layer at position %d is not packed".formatted(position));
    }
    return blocks.getLast();
  }

  /** The same for a stored page, which may say the position of another block. */
  BlockTokenIds requireStored(int position) {
    if (blocks.isEmpty() || blocks.getLast().position() != position) {
      throw SnapshotHeader.PAGE.invalid(
          "has position %d; the page of the first layer before it has another".formatted(position));
    }
    return blocks.getLast().retain();
  }

  /** Tokens as a sequence tells of them. */
  interface TokenListener {
    void token(int position, int id);
  }

  /**
   * Forgets all blocks that reach beyond a length.
   *
   * @param told of the tokens that are left of a block which was cut
   */
  void truncate(int length, TokenListener listener) {
    while (!blocks.isEmpty() && blocks.getLast().position() + Page.TOKENS > length) {
      BlockTokenIds cut = blocks.removeLast();
      for (int token = 0; cut.position() + token < length; token++) {
        listener.token(cut.position() + token, cut.id(token));
      }
      cut.release();
    }
  }

  SequenceTokenIds fork() {
    SequenceTokenIds fork = new SequenceTokenIds();
    blocks.forEach(block -> fork.blocks.add(block.retain()));
    return fork;
  }

  void close() {
    blocks.forEach(BlockTokenIds::release);
    blocks.clear();
  }
}
