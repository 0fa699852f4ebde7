package dev.kvasir.attention;

import dev.kvasir.cache.BlockView;
import dev.kvasir.cache.KvCache;
import dev.kvasir.kernel.Kernels;
import java.util.Arrays;

/**
 * One worker's passes over the blocks of one KV head, or of several adjacent ones that visit each
 * block in turn. Heads whose values share codes then read them once. Every head has its own sums,
 * so results do not depend on which heads pass together.
 */
final class HeadPasses {
  private final AttentionShape shape;
  private final Kernels kernels;
  private KvPass[] passes;
  private int heads; // in use
  private BlockView[] views = {}; // of the blocks being visited

  /**
   * @param maxRows of a single head; several heads have those of one token
   */
  HeadPasses(AttentionShape shape, Kernels kernels, int maxRows) {
    this.shape = shape;
    this.kernels = kernels;
    this.passes = new KvPass[] {new KvPass(shape, kernels, maxRows)};
  }

  /** Ensures passes for a number of heads. */
  void ensureCapacity(int count) {
    int had = passes.length;
    if (had < count) {
      passes = Arrays.copyOf(passes, count);
      for (int i = had; i < count; i++) {
        passes[i] = new KvPass(shape, kernels, QueryTile.MAX_ROWS);
      }
    }
  }

  /** Starts passes of some heads for some tokens; see {@link KvPass#begin}. */
  void begin(int count, int tokens, int headsOfToken, boolean computeOnStored) {
    heads = count;
    for (int i = 0; i < heads; i++) {
      passes[i].begin(tokens, headsOfToken, computeOnStored, passes[0], i, heads);
    }
  }

  KvPass of(int head) {
    return passes[head];
  }

  /**
   * Visits consecutive blocks of a layer.
   *
   * @param kvHead the first head
   * @param position position of the first query token
   * @param end position after the last query token
   * @param window positions that a query sees, itself included
   */
  void visit(
      KvCache cache,
      int layer,
      int kvHead,
      int firstBlock,
      int lastBlock,
      int position,
      int end,
      int window) {
    int count = lastBlock - firstBlock + 1;
    if (views.length < count) {
      views = new BlockView[count];
    }
    for (int i = 0; i < count; i++) {
      views[i] = cache.view(layer, firstBlock + i);
    }
    for (int head = 0; head < heads; head++) {
      passes[head].prefetch(views, count, kvHead + head);
    }
    for (int i = 0; i < count; i++) {
      int begin = cache.firstPosition(firstBlock + i);
      int visible = Math.min(cache.firstPosition(firstBlock + i + 1), end) - begin;
      for (int head = 0; head < heads; head++) {
        passes[head].visit(views[i], kvHead + head, position - begin, visible, window);
      }
    }
    Arrays.fill(views, 0, count, null);
  }

  /** Ends the passes, after all blocks have been visited. */
  void end() {
    for (int head = 0; head < heads; head++) {
      passes[head].end();
    }
  }
}
