package dev.kvasir.codec.basis;

import dev.kvasir.codec.Form;
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
  private final List<LayerBasis> layers; // or one for all
  private final int group;

  /**
   * @param layers the basis of each layer, or one for all
   * @param group channels of a token that share a range
   */
  public BasisCodec(
      int kvHeads, HeadShape head, Lookups lookups, List<LayerBasis> layers, int group) {
    this.kvHeads = kvHeads;
    this.head = head;
    this.lookups = lookups;
    this.layers = List.copyOf(layers);
    this.group = group;
  }

  @Override
  public Page seal(SharedArena memory, int layer, int position, float[] keyRows, float[] rows) {
    LayerBasis basis = basis(layer);
    change(basis.keys(), basis.keyClipping(), keyRows, head.keyDim());
    change(basis.values(), basis.valueClipping(), rows, head.valueDim());
    UniformPage codes =
        UniformPage.pack(memory, Collections.nCopies(kvHeads, head), lookups, null, keyRows, rows);
    return new BasisPage(codes, basis.keys(), basis.values());
  }

  private void change(HeadBasis basis, Clipping clipping, float[] x, int channels) {
    for (int kvHead = 0; kvHead < kvHeads; kvHead++) {
      int at = kvHead * Page.TOKENS * channels;
      basis.change(kvHead, x, at, Page.TOKENS);
      clipping.cut(x, at, Page.TOKENS, channels, group);
    }
  }

  @Override
  public boolean readsInPlace() {
    return true;
  }

  @Override
  public Page read(SharedArena memory, int layer, Form form) {
    LayerBasis basis = basis(layer);
    return BasisPage.read(memory, form, kvHeads, head, lookups, basis.keys(), basis.values());
  }

  private LayerBasis basis(int layer) {
    return layers.get(layers.size() == 1 ? 0 : layer);
  }

  @Override
  public long sharedBytes() {
    return layers.stream().mapToLong(basis -> basis.keys().bytes() + basis.values().bytes()).sum();
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
