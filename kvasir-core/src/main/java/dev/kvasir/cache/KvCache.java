package dev.kvasir.cache;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.SequenceObserver;
import java.util.Optional;

/**
 * The KV cache of one sequence: the keys and values of every layer and position, except those
 * evicted from a layer's sliding window. A step appends positions layer by layer; they count only
 * after {@link #advance} or {@link #commit}.
 *
 * <p>{@link CacheContents} is the role of a cache that is stored or reported, {@link #observer}
 * that of a cache that learns from a running step.
 */
public interface KvCache extends CacheContents, AutoCloseable {
  /** Maximum tokens of a block. */
  int TOKENS_PER_PAGE = Page.TOKENS;

  /**
   * Allocates memory for {@code length} positions, and no more than that.
   *
   * @throws CacheFullException if a budget cannot hold them; the cache is unchanged then
   */
  void reserve(int length);

  /** Returns the maximum number of positions. */
  int capacity();

  /** Returns how many of the next {@code tokens} fit into one step; 0 when the cache is full. */
  int stepCapacity(int tokens);

  /**
   * Stores the keys and values of all KV heads at a reserved position of a layer. Where values are
   * the first channels of keys, the values are ignored.
   */
  void append(int layer, int position, float[] keys, int keysAt, float[] values, int valuesAt);

  /**
   * Commits the next {@code positions}. This neither quantizes nor allocates or frees memory, so it
   * cannot fail for reserved positions.
   */
  void commit(int positions);

  /**
   * Quantizes the blocks that have left the residual window, and evicts the blocks that no layer
   * reads any more. Runs between steps, on any thread, while no other thread uses this sequence.
   * After a failure the tokens stay as they are and the next call tries again.
   */
  void quantizeWindow();

  /** Returns whether {@link #quantizeWindow} has any block to quantize. */
  boolean mustQuantize();

  /**
   * Returns how many tokens may follow the next one in a draft. A draft is a step whose tokens are
   * committed one by one; the rest is dropped and leaves no trace: neither keys and values, nor
   * observations, nor memory. A cache with a state that cannot be taken back returns 0, and no text
   * with this cache is speculated on.
   */
  default int draftCapacity() {
    return 0;
  }

  /**
   * Returns the length at which {@link #quantizeWindow} has a block to quantize; {@link
   * Integer#MAX_VALUE} if it never has. The tokens of a draft attend to each other as if they had
   * come one by one, so none may follow this length.
   */
  default int nextQuantization() {
    return length();
  }

  /**
   * Begins a draft: what the next tokens make known to {@link #observer} takes effect when each is
   * committed. Called again, it starts over.
   *
   * @param tokens at most one more than {@link #draftCapacity}
   * @param queryChannels channels of all query heads of a token in a layer
   */
  default void beginDraft(int tokens, int queryChannels) {
    throw new UnsupportedOperationException("this cache takes no drafts");
  }

  /** Ends a draft and drops its tokens that are not committed. Does nothing without a draft. */
  default void endDraft() {}

  /**
   * Commits the next {@code positions} and quantizes the blocks that have left the residual window.
   */
  default void advance(int positions) {
    commit(positions);
    quantizeWindow();
  }

  /**
   * Defers quantization, or ends the deferral. While deferred, all tokens attend to each other in
   * full precision and memory grows accordingly. Ending the deferral quantizes the blocks that have
   * left the residual window. Where a budget does not allow the deferral, blocks are quantized
   * anyway.
   */
  void deferQuantization(boolean deferred);

  /** Returns whether prompt rows compute on the stored representation, as decode rows do. */
  boolean prefillsOnStoredPages();

  /**
   * Returns the maximum number of query rows that compute together on the stored representation.
   */
  int maxQueryRows();

  /** Returns how many adjacent KV heads read a page faster together: a divisor of the KV heads. */
  default int headsPerPass() {
    return 1;
  }

  /**
   * Returns whether a prompt whose quantization is deferred has the same bits in both caches, so
   * that one can copy what the other has computed.
   */
  default boolean prefillsLike(KvCache other) {
    return false;
  }

  /** Returns what observes the tokens, queries and attention mass of this sequence's steps. */
  SequenceObserver observer();

  /** Returns whether quantization depends on queries or attention that were observed. */
  default boolean dependsOnAttention() {
    return observer().dependsOnAttention();
  }

  /**
   * Returns the largest number of positions, up to {@code length}, that {@link #truncate} can
   * retain. It is {@code length} where every layer holds what the next token reads. Layers with a
   * sliding window allow a cut of at least one block's tokens. Beyond that nothing can be retained,
   * and the text must be prefilled again. With recurrent states it is the last {@link #checkpoint}
   * that is not behind {@code length}.
   */
  int retainable(int length);

  /** What a checkpoint of recurrent states is for, which decides how long it is retained. */
  enum Checkpoint {
    /** The end of a step; the next one replaces it. */
    STEP,
    /** The begin or end of a prompt, to which a conversation may return. */
    TURN
  }

  /**
   * Retains the recurrent states at the current length, so that {@link #truncate} can return to it.
   * It allocates nothing. A cache without recurrent states can be cut anywhere and ignores it.
   */
  default void checkpoint(Checkpoint kind) {}

  /** Returns the recurrent states, if the model has any. */
  default Optional<RecurrentStates> states() {
    return Optional.empty();
  }

  /**
   * Takes over the recurrent states of another cache with the same tokens, whose keys and values
   * were appended here.
   */
  default void copyStates(KvCache from) {}

  int firstRetained(int layer);

  /**
   * Returns whether its spec asks to quantize prompts only after their prefill, with {@link
   * #deferQuantization}. The cache does not do that on its own.
   */
  default boolean defersPrompts() {
    return false;
  }

  /** Returns whether quantization depends on what was quantized before. */
  boolean isStateful();

  /** Returns whether a layer evicts tokens that have left its sliding window. */
  boolean evicts(int layer);

  /**
   * Evicts a layer's blocks that hold any token before a position, and those of all layers with the
   * same window. The caller knows that they are not needed.
   */
  void evict(int layer, int position);

  /**
   * Drops every position from {@code length} on, or from {@link #retainable} of it, and frees the
   * blocks that become empty. A quantized page that is cut is dequantized to the values that
   * attention used. If the pool has no memory for that, the whole page is dropped.
   */
  void truncate(int length);

  /**
   * Returns another sequence with the same past. Only the block being filled is copied, and only
   * when one of the two sequences writes to it.
   */
  KvCache fork();

  int blockOf(int position);

  /** Returns the first position of a block, which is the end of the previous one. */
  int firstPosition(int block);

  /**
   * Returns a layer's keys and values in a block.
   *
   * @throws IllegalStateException if the layer has evicted the block
   */
  BlockView view(int layer, int block);

  @Override
  void close();
}
