package dev.kvasir.cache;

import dev.kvasir.codec.Form;
import java.util.Optional;

/**
 * What a cache holds as bytes that outlive the process, in pieces: blocks of {@link
 * KvCache#TOKENS_PER_PAGE} tokens that do not change while the sequence grows, but for pages that
 * shrink and layers that let go of theirs, and the rest. It says neither which model and spec it
 * belongs to nor which tokens it is of: whoever stores it must.
 */
public interface CacheForm {
  /** Positions that it holds. */
  int length();

  /** Whole blocks, the first of which follows the sinks. */
  int blocks();

  /** The position behind a block. */
  int end(int index);

  /** A block's pages of all layers that hold it, or its vectors where those are not packed. */
  byte[] block(int index);

  /** The same to be read where it lies. Blocks come in their order, once each. */
  default Form blockToRead(int index) {
    return Form.of(block(index));
  }

  /** The same in a file that can stay mapped, for caches that read blocks where they lie. */
  default Optional<MappedForm> mapped() {
    return Optional.empty();
  }

  /**
   * Whether the bytes of a block stay what they are however the sequence grows: its pages neither
   * shrink nor are let go of, nor become old.
   */
  default boolean hasLastingBlocks() {
    return false;
  }

  /** Sinks, tokens behind the last block, and what the method keeps of the sequence. */
  byte[] rest();

  /** The same to be read where it lies. */
  default Form restToRead() {
    return Form.of(rest());
  }
}
