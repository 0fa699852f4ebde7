package dev.kvasir.codec.mead;

import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Page;
import java.util.ArrayList;
import java.util.List;

/**
 * The ids of a sequence's blocks, as its pages hold them: for the pages of a block's other layers,
 * and for tokens that are taken out of a page that is cut.
 */
final class PackedTokens {
  private final List<BlockTokens> blocks = new ArrayList<>(); // by position

  /** Takes over what a page of the first layer refers to; what stood there is forgotten. */
  void add(BlockTokens tokens) {
    drop(tokens.position());
    blocks.add(tokens.retain());
  }

  private void drop(int position) {
    while (!blocks.isEmpty() && blocks.getLast().position() >= position) {
      blocks.removeLast().release();
    }
  }

  /** The ids of the block that begins at a position, held for whoever asks. */
  BlockTokens of(int position) {
    return last(position).retain();
  }

  private BlockTokens last(int position) {
    if (blocks.isEmpty() || blocks.getLast().position() != position) {
      throw new IllegalStateException(
          "the first layer at position %d is not packed".formatted(position));
    }
    return blocks.getLast();
  }

  /** The same for a stored page, which may say the position of another block. */
  BlockTokens stored(int position) {
    if (blocks.isEmpty() || blocks.getLast().position() != position) {
      throw Envelope.PAGE.refused(
          "has position %d; the page of the first layer before it has another".formatted(position));
    }
    return blocks.getLast().retain();
  }

  /** Tokens as a sequence tells of them. */
  interface Told {
    void token(int position, int id);
  }

  /**
   * Forgets all blocks that reach beyond a length.
   *
   * @param told of the tokens that are left of a block which was cut
   */
  void truncate(int length, Told told) {
    while (!blocks.isEmpty() && blocks.getLast().position() + Page.TOKENS > length) {
      BlockTokens cut = blocks.removeLast();
      for (int token = 0; cut.position() + token < length; token++) {
        told.token(cut.position() + token, cut.id(token));
      }
      cut.release();
    }
  }

  PackedTokens fork() {
    PackedTokens fork = new PackedTokens();
    blocks.forEach(block -> fork.blocks.add(block.retain()));
    return fork;
  }

  void close() {
    blocks.forEach(BlockTokens::release);
    blocks.clear();
  }
}
