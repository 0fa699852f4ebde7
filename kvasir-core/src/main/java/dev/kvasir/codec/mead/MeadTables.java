package dev.kvasir.codec.mead;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.kernel.TurnTable;
import java.lang.foreign.SegmentAllocator;
import java.util.List;
import java.util.Optional;

/**
 * What is known of a model beforehand, whatever the rate: made once, shared by all its sequences.
 *
 * @param heads by layer and KV head
 * @param first the first layer's rows by token id, where it is not coded
 * @param tokenRows (vocabulary), the row of each token id; empty where rows do not belong to ids
 */
record MeadTables(
    MeadSizes sizes,
    TableKind kind,
    List<List<HeadTables>> heads,
    Optional<TokenRows> first,
    int[] tokenRows,
    Rotation rotation,
    TurnTable turns) {
  /**
   * @param memory of what attention reads where it lies
   */
  static MeadTables of(
      CacheShape shape,
      MeadProfile profile,
      Optional<MeadProfile.FirstLayer> first,
      Rotation rotation,
      SegmentAllocator memory) {
    MeadSizes sizes = MeadSizes.of(shape);
    return new MeadTables(
        sizes,
        profile.kind(),
        profile.heads().stream()
            .map(layer -> layer.stream().map(head -> HeadTables.of(sizes, head, memory)).toList())
            .toList(),
        first.map(rows -> TokenRows.of(sizes, rows, memory)),
        profile.tokenRows(),
        rotation,
        rotation.table(shape.keyDim()));
  }

  HeadTables head(int layer, int kvHead) {
    return heads.get(layer).get(kvHead);
  }

  /** Bits of a token in all layers that are no codes: maps, mean errors, rows, its id. */
  double bitsBesideCodes() {
    double page =
        ClassMap.BYTES
            + MeanErrors.bytesFor(sizes.valueDim())
            + (kind == TableKind.CENTROIDS ? Side.COUNT * Page.TOKENS : 0);
    double codedHeads = (double) codedLayers() * sizes.kvHeads();
    return Byte.SIZE * page * codedHeads / Page.TOKENS + (needsTokens() ? BlockTokens.BITS : 0);
  }

  /** Whether sequences must know which tokens they hold. */
  boolean needsTokens() {
    return kind == TableKind.TOKENS || first.isPresent();
  }

  /** The table row of a token id; an id beyond the vocabulary has that of id 0. */
  int row(int token) {
    return token < tokenRows.length ? tokenRows[token] : 0;
  }

  /** Layers whose pages have codes. */
  int codedLayers() {
    return sizes.layers() - (first.isPresent() ? 1 : 0);
  }

  /** The place of a layer among those. */
  int codedLayer(int layer) {
    return layer - (first.isPresent() ? 1 : 0);
  }

  /** Whether a layer needs no codes: its keys and values depend on the token alone. */
  boolean isFree(int layer) {
    return layer == 0 && first.isPresent();
  }

  long bytes() {
    long ofHeads = heads.stream().flatMap(List::stream).mapToLong(HeadTables::bytes).sum();
    return ofHeads
        + first.map(TokenRows::bytes).orElse(0L)
        + (long) Integer.BYTES * tokenRows.length;
  }
}
