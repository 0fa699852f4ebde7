package dev.kvasir.codec.mead;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.Rotation;
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
    Optional<TokenKvTable> firstLayer,
    int[] tokenRows,
    Rotation rotation,
    RopeTable ropeTable) {
  /**
   * @param memory of what attention reads where it lies
   */
  static MeadTables of(
      CacheShape shape,
      MeadProfile profile,
      Optional<MeadProfile.FirstLayer> firstLayer,
      Rotation rotation,
      SegmentAllocator memory) {
    MeadSizes sizes = MeadSizes.of(shape);
    return new MeadTables(
        sizes,
        profile.kind(),
        profile.heads().stream()
            .map(layer -> layer.stream().map(head -> HeadTables.of(sizes, head, memory)).toList())
            .toList(),
        firstLayer.map(rows -> TokenKvTable.of(sizes, rows, memory)),
        profile.tokenRows(),
        rotation,
        rotation.table(shape.keyDim()));
  }

  HeadTables head(int layer, int kvHead) {
    return heads.get(layer).get(kvHead);
  }

  /** Bits of a token in all layers that are no codes: maps, mean errors, rows, its id. */
  double overheadBits() {
    double page =
        SaliencyTierMap.BYTES
            + MeanErrors.bytesFor(sizes.valueDim())
            + (kind == TableKind.CENTROIDS ? KvSide.COUNT * Page.TOKENS : 0);
    double quantizedHeads = (double) quantizedLayers() * sizes.kvHeads();
    return Byte.SIZE * page * quantizedHeads / Page.TOKENS
        + (needsTokenIds() ? BlockTokenIds.BITS_PER_TOKEN : 0);
  }

  /** Whether sequences must know which tokens they hold. */
  boolean needsTokenIds() {
    return kind == TableKind.TOKENS || firstLayer.isPresent();
  }

  /** The table row of a token id; an id beyond the vocabulary has that of id 0. */
  int tableRow(int token) {
    return token < tokenRows.length ? tokenRows[token] : 0;
  }

  /** Layers whose pages have codes. */
  int quantizedLayers() {
    return sizes.layers() - (firstLayer.isPresent() ? 1 : 0);
  }

  /** The place of a layer among those. */
  int quantizedLayer(int layer) {
    return layer - (firstLayer.isPresent() ? 1 : 0);
  }

  /** Whether a layer needs no codes: its keys and values depend on the token alone. */
  boolean isTokenDetermined(int layer) {
    return layer == 0 && firstLayer.isPresent();
  }

  long bytes() {
    long ofHeads = heads.stream().flatMap(List::stream).mapToLong(HeadTables::bytes).sum();
    return ofHeads
        + firstLayer.map(TokenKvTable::bytes).orElse(0L)
        + (long) Integer.BYTES * tokenRows.length;
  }
}
