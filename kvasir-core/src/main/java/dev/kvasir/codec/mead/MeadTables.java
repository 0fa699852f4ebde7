package dev.kvasir.codec.mead;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerRotations;
import dev.kvasir.codec.Page;
import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.Rotation;
import java.lang.foreign.SegmentAllocator;
import java.util.List;
import java.util.Optional;

/**
 * Prediction tables of a model, independent of the rate. They are created once and shared by all
 * sequences.
 *
 * @param heads by layer and KV head
 * @param firstLayer keys and values of the first layer by token id; empty if that layer is
 *     quantized
 * @param tokenRows (vocabulary), the table row of each token id; empty for other kinds of tables
 * @param rotations of keys
 */
record MeadTables(
    MeadSizes sizes,
    TableKind kind,
    List<List<HeadTables>> heads,
    Optional<TokenKvTable> firstLayer,
    int[] tokenRows,
    LayerRotations rotations) {
  /**
   * @param memory memory for the tables, which attention reads in place
   */
  static MeadTables of(
      CacheShape shape,
      MeadProfile profile,
      Optional<MeadProfile.FirstLayer> firstLayer,
      LayerRotations rotations,
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
        rotations);
  }

  /** Returns the rotation of a layer's keys. */
  Rotation rotation(int layer) {
    return rotations.of(layer);
  }

  /** Returns the same as a table. */
  RopeTable ropeTable(int layer) {
    return rotations.of(layer).table(sizes.keyDim());
  }

  HeadTables head(int layer, int kvHead) {
    return heads.get(layer).get(kvHead);
  }

  /**
   * Returns the bits of a token in all layers that are not codes: tier maps, mean errors, table
   * rows, its id.
   */
  double overheadBits() {
    double page =
        SaliencyTierMap.BYTES
            + MeanErrors.bytesFor(sizes.valueDim())
            + (kind == TableKind.CENTROIDS ? KvSide.COUNT * Page.TOKENS : 0);
    double quantizedHeads = (double) quantizedLayers() * sizes.kvHeads();
    return Byte.SIZE * page * quantizedHeads / Page.TOKENS
        + (needsTokenIds() ? BlockTokenIds.BITS_PER_TOKEN : 0);
  }

  /** Returns whether sequences must know their token ids. */
  boolean needsTokenIds() {
    return kind == TableKind.TOKENS || firstLayer.isPresent();
  }

  /** Returns the table row of a token id; ids outside the vocabulary use that of id 0. */
  int tableRow(int token) {
    return token < tokenRows.length ? tokenRows[token] : 0;
  }

  /** Returns the number of layers whose pages have codes. */
  int quantizedLayers() {
    return sizes.layers() - (firstLayer.isPresent() ? 1 : 0);
  }

  /** Returns the index of a layer among the quantized ones. */
  int quantizedLayer(int layer) {
    return layer - (firstLayer.isPresent() ? 1 : 0);
  }

  /**
   * Returns whether a layer needs no codes because its keys and values depend on the token id
   * alone.
   */
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
