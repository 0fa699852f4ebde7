package dev.kvasir.cache;

import dev.kvasir.codec.Page;
import java.util.List;

/**
 * The KV cache of one sequence: the keys and values of every layer and position, except those
 * evicted from a layer's sliding window. A step appends positions layer by layer; they count only
 * after {@link #advance} or {@link #commit}.
 */
public interface KvCache extends AutoCloseable {
  /** Maximum tokens of a block. */
  int TOKENS_PER_PAGE = Page.TOKENS;

  /** Returns the number of positions that every layer holds. */
  int length();

  /**
   * Pins the pages for reading: until the matching {@link #unpin}, no other thread requantizes them
   * to free memory. Calls nest.
   */
  void pin();

  /** Undoes one {@link #pin}, on the same thread. */
  void unpin();

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

  /** Returns whether the cache uses {@link #observe(int, int)}. */
  boolean observesTokens();

  /** Reports the token at a position, before any of its vectors are appended. */
  void observe(int position, int token);

  /** Returns whether the cache uses {@link #observe(int, int, float[], int)}. */
  boolean observesQueries();

  /** Reports a query before it attends. Methods may quantize according to the queries. */
  void observe(int layer, int position, float[] queries, int at);

  /**
   * Returns for how many queries, its own included, a token's attention mass counts; 0 if {@link
   * #observeAttention} is not used.
   */
  int attentionHorizon();

  /**
   * Reports the attention that a query gives to the residual tokens up to itself. Methods may
   * quantize according to this attention mass. It counts once the query's position is committed.
   *
   * @param from position of the first token; the last one is the query's own
   * @param weights (count) in units of 2^-18, summed over the query heads that share the KV head
   */
  void observeAttention(int layer, int kvHead, int from, int[] weights, int count);

  /**
   * Returns the largest number of positions, up to {@code length}, that {@link #truncate} can
   * retain. It is {@code length} where every layer holds what the next token reads. Layers with a
   * sliding window allow a cut of at least one block's tokens. Beyond that nothing can be retained,
   * and the text must be prefilled again.
   */
  int retainable(int length);

  /** Returns the first position that a layer retains. */
  int firstRetained(int layer);

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

  /**
   * Returns a snapshot of the whole cache for storage. It is valid until the cache changes, and
   * must not be taken while quantization is deferred.
   */
  CacheSnapshot snapshot();

  /** Returns the block that a position belongs to. */
  int blockOf(int position);

  /** Returns the first position of a block, which is the end of the previous one. */
  int firstPosition(int block);

  /**
   * Returns a layer's keys and values in a block.
   *
   * @throws IllegalStateException if the layer has evicted the block
   */
  BlockView view(int layer, int block);

  /** Returns the time that this sequence has spent on quantization; a fork starts at zero. */
  QuantizationTime quantizationTime();

  /** Returns the bytes allocated for this cache now, shared ones included. */
  CacheBytes bytes();

  /** Returns its tokens from first to last, grouped by representation. */
  List<CacheRun> runs();

  @Override
  void close();
}
