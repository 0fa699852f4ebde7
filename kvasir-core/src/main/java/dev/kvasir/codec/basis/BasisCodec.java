package dev.kvasir.codec.basis;

import dev.kvasir.codec.Lookups;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.HeadShape;
import java.util.Collections;
import java.util.List;

/** Packs vectors in a basis of their own, and keeps nothing between pages. */
public final class BasisCodec implements StatelessCodec {
  private final int kvHeads;
  private final HeadShape head;
  private final Lookups lookups;
  private final List<HeadBasis> keys; // by layer, or one for all
  private final HeadBasis values;
  private final int group;
  private final Clipping clipping;

  /**
   * @param keys the basis of keys of each layer, or one for all
   * @param group channels of a token that share a range
   * @param clipping of the ranges of such groups
   */
  public BasisCodec(
      int kvHeads,
      HeadShape head,
      Lookups lookups,
      List<? extends HeadBasis> keys,
      HeadBasis values,
      int group,
      Clipping clipping) {
    this.kvHeads = kvHeads;
    this.head = head;
    this.lookups = lookups;
    this.keys = List.copyOf(keys);
    this.values = values;
    this.group = group;
    this.clipping = clipping;
  }

  @Override
  public Page seal(SharedArena memory, int layer, int position, float[] keyRows, float[] rows) {
    change(keys(layer), keyRows, head.keyDim());
    change(values, rows, head.valueDim());
    UniformPage codes =
        UniformPage.pack(memory, Collections.nCopies(kvHeads, head), lookups, null, keyRows, rows);
    return new BasisPage(codes, keys(layer), values);
  }

  private void change(HeadBasis basis, float[] x, int channels) {
    for (int kvHead = 0; kvHead < kvHeads; kvHead++) {
      int at = kvHead * Page.TOKENS * channels;
      basis.change(kvHead, x, at, Page.TOKENS);
      clipping.cut(x, at, Page.TOKENS, channels, group);
    }
  }

  @Override
  public Page read(SharedArena memory, int layer, byte[] form) {
    return BasisPage.read(memory, form, kvHeads, head, lookups, keys(layer), values);
  }

  private HeadBasis keys(int layer) {
    return keys.get(keys.size() == 1 ? 0 : layer);
  }

  @Override
  public long pageBytes() {
    return (long) kvHeads * head.bytes();
  }

  @Override
  public long codeBytes() {
    return (long) kvHeads * head.codeBytes();
  }
}
