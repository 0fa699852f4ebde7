package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.SnapshotHeader;
import java.util.ArrayList;
import java.util.List;

/**
 * Token ids of a sequence's quantized blocks. The pages of a block's other layers need them, and so
 * do tokens that return to the residual window when a block is truncated.
 */
final class SequenceTokenIds {
  private final List<BlockTokenIds> blocks = new ArrayList<>(); // by position

  /** Adds the ids of a first-layer page and drops those at or after its position. */
  void add(BlockTokenIds tokens) {
    removeFrom(tokens.position());
    blocks.add(tokens.retain());
  }

  private void removeFrom(int position) {
    while (!blocks.isEmpty() && blocks.getLast().position() >= position) {
      blocks.removeLast().release();
    }
  }

  /** Returns the ids of the block at a position, retained for the caller. */
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

  /** Returns the same for a stored page, which may state the position of another block. */
  BlockTokenIds requireStored(int position) {
    if (blocks.isEmpty() || blocks.getLast().position() != position) {
      throw SnapshotHeader.PAGE.invalid(
          "has position %d; the page of the first layer before it has another".formatted(position));
    }
    return blocks.getLast().retain();
  }

  /** Receives the tokens that remain of a truncated block. */
  interface TokenListener {
    void token(int position, int id);
  }

  /**
   * Drops all blocks that extend past a length.
   *
   * @param listener receives the tokens that remain of a truncated block
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
