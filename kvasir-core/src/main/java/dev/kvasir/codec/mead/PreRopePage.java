package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RopeTable;

/** A page that stores keys without RoPE. */
sealed interface PreRopePage extends Page permits MeadPage, TokenIdPage {
  MeadTables tables();

  int layer();

  /** Returns the position of the first token. */
  int position();

  /**
   * Dequantizes all keys of a head, before RoPE, into {@link MeadWorkspace#vectors} // (TOKENS,
   * keyWidth)
   */
  void readKeys(Kernels kernels, MeadWorkspace meadWorkspace, int kvHead);

  @Override
  default void dequantizeKeys(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    MeadTables tables = tables();
    MeadWorkspace meadWorkspace = MeadWorkspace.of(workspace, tables.sizes());
    Kernels kernels = workspace.kernels();
    readKeys(kernels, meadWorkspace, kvHead);
    RopeTable table = tables.ropeTable(layer());
    table.rotateEach(kernels, meadWorkspace.vectors, tokens);
    meadWorkspace
        .rotation(table)
        .rotate(kernels, meadWorkspace.vectors, tokens, tables.rotation(layer()), position());
    table.toModelOrder(meadWorkspace.vectors, tokens, out);
  }
}
