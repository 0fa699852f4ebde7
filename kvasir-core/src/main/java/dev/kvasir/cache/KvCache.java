package dev.kvasir.cache;

import dev.kvasir.codec.Page;
import dev.kvasir.kernel.Kernels;
import java.util.List;

/**
 * What one sequence remembers: the keys and values of every layer and position, but for those that
 * lie out of a layer's window. Positions are appended layer by layer while a step runs and count
 * only once {@link #advance} says that all layers have them.
 */
public interface KvCache extends AutoCloseable {
  /** Tokens of a block at the most. */
  int TOKENS_PER_PAGE = Page.TOKENS;

  /** Positions that every layer holds. */
  int length();

  /**
   * Holds its pages as they are for whoever is about to read them: until {@link #leave} as often,
   * no other thread makes them narrower for want of memory.
   */
  void pin();

  /** Lets go of what {@link #pin} held, on the same thread. */
  void unpin();

  /**
   * Takes the memory for {@code length} positions; nothing is taken ahead of that.
   *
   * @throws CacheFullException where a budget cannot hold them; nothing has changed then
   */
  void reserve(int length);

  /** Positions that it can hold at the most. */
  int capacity();

  /** How many of the next {@code tokens} it can take in one step; 0 when it is full. */
  int stepCapacity(int tokens);

  /**
   * Stores the keys and values of all KV heads at a reserved position of a layer. Values that are
   * part of keys are not looked at.
   */
  void append(int layer, int position, float[] keys, int keysAt, float[] values, int valuesAt);

  /**
   * Counts the next {@code positions} as held. Nothing is packed and no memory is taken or given
   * back, so it cannot fail once they are reserved.
   */
  void commit(int positions);

  /**
   * Packs what has left the window, and lets go of what no layer reads any more: between steps, and
   * from any thread as long as no other uses this sequence. Where it fails, tokens stay as they are
   * and the next call tries again.
   */
  void quantizeWindow();

  /** Whether {@link #settle} has anything to pack. */
  boolean mustQuantize();

  /** Counts the next {@code positions} as held and packs what has left the window. */
  default void advance(int positions) {
    commit(positions);
    quantizeWindow();
  }

  /**
   * While held, nothing is packed: all tokens see each other in full precision, and memory grows
   * with them. Once let go, what has left the window is packed. Where a budget leaves no room for
   * that, it is packed all the same.
   */
  void deferQuantization(boolean held);

  /** Whether a prompt's rows compute on what is stored, as a generated token's do. */
  boolean prefillsOnStoredPages();

  /** Query rows at the most that compute together on what is stored. */
  int maxQueryRows();

  /** Whether {@link #see(int, int)} wants to be called. */
  boolean observesTokens();

  /** Learns which token stands at a position, before any of its vectors come. */
  void observe(int position, int token);

  /** Whether {@link #see(int, int, float[], int)} wants to be called. */
  boolean observesQueries();

  /** Learns of a query before it attends: methods may pack by what queries look at. */
  void observe(int layer, int position, float[] queries, int at);

  /**
   * For how many queries, its own included, a token's received attention counts; 0 where {@link
   * #observeAttention} is not called.
   */
  int attentionHorizon();

  /**
   * Learns how much a query looks at tokens up to itself that are not packed: methods may pack by
   * what is looked at. It counts once the query's position does.
   *
   * @param from position of the first token; the last is the query's own
   * @param weights (count) in units of 2^-18, summed over the query heads that share the KV head
   */
  void observeAttention(int layer, int kvHead, int from, int[] weights, int count);

  /**
   * The most positions, up to {@code length}, that {@link #truncate} can keep: all of them where
   * every layer holds what the next token reads. Layers that hold a window alone can be cut by a
   * block's tokens at least; beyond that nothing can be kept, and the text is to be read again.
   */
  int retainable(int length);

  /** The position of the first token that a layer holds. */
  int firstRetained(int layer);

  /** Whether what is packed depends on what was packed before. */
  boolean isStateful();

  /** Whether a layer lets go of tokens that are out of its window. */
  boolean evicts(int layer);

  /**
   * Lets go of a layer's blocks that hold any token before a position, which are known to be of no
   * use; layers that look as far back do the same.
   */
  void evict(int layer, int position);

  /**
   * Forgets every position from {@code length} on, or from what is {@link #retainable} of it, and
   * frees the blocks that held only those. Cut in the midst of a packed page, the rest of that page
   * is kept as attention saw it; where the pool has no memory for that, the whole page is
   * forgotten.
   */
  void truncate(int length);

  /**
   * Another sequence with the same past. Nothing is copied but the block being filled, and that
   * only when one of the two writes to it.
   */
  KvCache fork();

  /**
   * All that it holds, to be stored; of use until the cache changes, and not while packing is held
   * back.
   */
  CacheSnapshot snapshot();

  /** The block that a position belongs to. */
  int blockOf(int position);

  /** The position that a block begins with; it ends where the next one begins. */
  int firstPosition(int block);

  /** A block's page of a layer, to compute on as it is packed; null where it is not packed. */
  Page page(int layer, int block);

  /** A block's vectors of a layer as they are stored; null where they are packed. */
  DenseRows denseRows(int layer, int block);

  /** The first {@code tokens} keys of a block as floats. */
  void expandKeys(Kernels kernels, int layer, int kvHead, int block, int tokens, float[] out);

  /** The first {@code tokens} values of a block as floats. */
  void expandValues(Kernels kernels, int layer, int kvHead, int block, int tokens, float[] out);

  /** Time that this sequence has spent on packing; a fork begins with none. */
  QuantizationTime quantizationTime();

  /** Bytes that are allocated for it now, shared ones included. */
  CacheBytes bytes();

  /** Its tokens from the first to the last, by how they are kept. */
  List<CacheRun> runs();

  @Override
  void close();
}
