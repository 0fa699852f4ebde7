package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.ResidualTokenStats;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.memory.SharedArena;
import java.util.Arrays;
import java.util.List;

/** Quantizes the tokens of a layer's page, head by head. */
final class MeadPageQuantizer {
  private static final int TOKENS = Page.TOKENS;

  private final MeadCodec codec;
  private final MeadTables tables;
  private final MeadSizes sizes;
  private final ResidualTokenStats residualTokens;
  private final LateSinks lateSinks;
  private final HeadEncodingScratch scratch;
  private final int[] received = new int[TOKENS];
  private final boolean[] isExact = new boolean[TOKENS];
  private final RowBlock inputRows = new RowBlock();
  private final RowBlock vectorRows = new RowBlock();
  private final RowBlock outputRows = new RowBlock();

  MeadPageQuantizer(MeadCodec codec, ResidualTokenStats residualTokens, LateSinks lateSinks) {
    this.codec = codec;
    this.tables = codec.tables();
    this.sizes = tables.sizes();
    this.residualTokens = residualTokens;
    this.lateSinks = lateSinks;
    this.scratch = new HeadEncodingScratch(sizes);
  }

  /**
   * @param ids owned by the page if this succeeds; null if token ids are not needed
   * @param rotated keys (kvHeads, tokens, keyDim), overwritten
   * @param values (kvHeads, tokens, valueDim)
   */
  MeadPage quantize(
      SharedArena memory,
      MeadRate rate,
      int layer,
      int position,
      BlockTokenIds ids,
      float[] rotated,
      float[] values) {
    List<LateSink> sinks = lateSinks.of(layer, position, receivedByAllHeads(layer, position));
    MeadPage page = MeadPage.of(memory, tables, rate, layer, position, ids, sinks);
    try {
      for (LateSink sink : sinks) {
        sink.rows().write(sink.token(), rotated, values);
        isExact[sink.token()] = true;
      }
      encode(page, layer, rotated, values);
      return page;
    } catch (RuntimeException | Error e) {
      page.release();
      throw e;
    }
  }

  private long[] receivedByAllHeads(int layer, int position) {
    long[] sums = new long[TOKENS];
    for (int head = 0; head < sizes.kvHeads(); head++) {
      residualTokens.attentionMass(layer, head, position, TOKENS, received);
      Arrays.setAll(sums, token -> sums[token] + received[token]);
    }
    return sums;
  }

  private void encode(MeadPage page, int layer, float[] rotated, float[] values) {
    HeadTierAssigner tiers = new HeadTierAssigner(sizes, codec.saliency());
    HeadEncoder encoder = new HeadEncoder(sizes, codec.storesMeanErrors());
    for (int head = 0; head < sizes.kvHeads(); head++) {
      HeadTables headTables = page.head(head);
      unrotate(rotated, layer, head, page.position());
      toComponents(headTables, values, head);
      selectTableRows(headTables, page.tokens());
      page.writeTableRows(head, scratch);
      scratch.subtractTableRows(headTables);
      residualTokens.attentionMass(layer, head, page.position(), TOKENS, received);
      tiers.assign(headTables, scratch, received, isExact);
      encoder.encode(headTables, page.codes(), head, scratch, page.data());
    }
  }

  /** Undoes RoPE on a head's keys and stores them in the lanes of pairs. */
  private void unrotate(float[] rotated, int layer, int head, int position) {
    int at = head * TOKENS * sizes.keyDim();
    Rotation rotation = tables.rotation(layer);
    rotation.rotate(rotated, at, sizes.keyDim(), TOKENS, -position);
    rotation.unrotateConsecutive(rotated, at, sizes.keyDim(), TOKENS);
    tables.ropeTable(layer).toPairOrder(rotated, at, TOKENS, scratch.keys, 0);
  }

  private void toComponents(HeadTables head, float[] values, int kvHead) {
    int valueDim = sizes.valueDim();
    inputRows.set(values, kvHead * TOKENS * valueDim, valueDim, TOKENS, valueDim);
    vectorRows.set(head.valueTo(), sizes.valueWidth(), valueDim);
    outputRows.set(scratch.components, TOKENS, sizes.valueWidth());
    codec.kernels().floats().products(inputRows, vectorRows, outputRows);
  }

  private void selectTableRows(HeadTables head, BlockTokenIds ids) {
    switch (tables.kind()) {
      case TOKENS -> {
        for (int token = 0; token < TOKENS; token++) {
          scratch.keyTableRows[token] = tables.tableRow(ids.id(token));
          scratch.valueTableRows[token] = scratch.keyTableRows[token];
        }
      }
      case CENTROIDS -> {
        selectNearestRows(head, KvSide.KEYS, head.keyWeights());
        selectNearestRows(head, KvSide.VALUES, null);
      }
      case OFF -> {} // the table has one row
    }
  }

  /**
   * @param weights how much an error of each channel counts; null for equal weights
   */
  private void selectNearestRows(HeadTables head, KvSide side, float[] weights) {
    float[] x = scratch.vectors(side);
    int[] tableRows = scratch.tableRows(side);
    int width = sizes.width(side);
    int rows = head.base(side).rows();
    float[] row = new float[width];
    double[] least = new double[TOKENS];
    Arrays.fill(least, Double.POSITIVE_INFINITY);
    for (int r = 0; r < rows; r++) {
      head.base(side).dequantize(r, row, 0);
      for (int token = 0; token < TOKENS; token++) {
        double distance = 0;
        for (int i = 0; i < width && distance < least[token]; i++) {
          double lost = (x[token * width + i] - row[i]) * (weights == null ? 1 : weights[i]);
          distance += lost * lost;
        }
        if (distance < least[token]) {
          least[token] = distance;
          tableRows[token] = r;
        }
      }
    }
  }
}
