package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.UnpackedTokens;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.memory.SharedArena;
import java.util.Arrays;
import java.util.List;

/** Packs the tokens of a layer's page, head by head. */
final class PagePacking {
  private static final int TOKENS = Page.TOKENS;

  private final MeadCodec codec;
  private final MeadTables tables;
  private final MeadSizes sizes;
  private final UnpackedTokens unpacked;
  private final LateSinks lateSinks;
  private final HeadTokens tokens;
  private final int[] received = new int[TOKENS];
  private final boolean[] isExact = new boolean[TOKENS];
  private final RowBlock inputRows = new RowBlock();
  private final RowBlock vectorRows = new RowBlock();
  private final RowBlock outputRows = new RowBlock();

  PagePacking(MeadCodec codec, UnpackedTokens unpacked, LateSinks lateSinks) {
    this.codec = codec;
    this.tables = codec.tables();
    this.sizes = tables.sizes();
    this.unpacked = unpacked;
    this.lateSinks = lateSinks;
    this.tokens = new HeadTokens(sizes);
  }

  /**
   * @param ids what the page holds from then on; null where they need not be known
   * @param rotated keys (kvHeads, tokens, keyDim), overwritten
   * @param values (kvHeads, tokens, valueDim)
   */
  MeadPage pack(
      SharedArena memory,
      MeadRate rate,
      int layer,
      int position,
      BlockTokens ids,
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
      unpacked.received(layer, head, position, TOKENS, received);
      Arrays.setAll(sums, token -> sums[token] + received[token]);
    }
    return sums;
  }

  private void encode(MeadPage page, int layer, float[] rotated, float[] values) {
    HeadClassing classing = new HeadClassing(sizes, codec.classing());
    HeadEncoder encoder = new HeadEncoder(sizes, codec.keepsMeans());
    for (int head = 0; head < sizes.kvHeads(); head++) {
      HeadTables known = page.head(head);
      turnBack(rotated, head, page.position());
      change(known, values, head);
      pick(known, page.tokens());
      page.writePicks(head, tokens);
      tokens.takeRowsOff(known);
      unpacked.received(layer, head, page.position(), TOKENS, received);
      classing.classify(known, tokens, received, isExact);
      encoder.encode(known, page.codes(), head, tokens, page.data());
    }
  }

  /** Keys as they were before rotation, in the lanes of pairs. */
  private void turnBack(float[] rotated, int head, int position) {
    int at = head * TOKENS * sizes.keyDim();
    Rotation rotation = tables.rotation();
    rotation.turn(rotated, at, sizes.keyDim(), TOKENS, -position);
    rotation.turnBackAlong(rotated, at, sizes.keyDim(), TOKENS);
    tables.turns().arrange(rotated, at, TOKENS, tokens.keys, 0);
  }

  private void change(HeadTables head, float[] values, int kvHead) {
    int valueDim = sizes.valueDim();
    inputRows.set(values, kvHead * TOKENS * valueDim, valueDim, TOKENS, valueDim);
    vectorRows.set(head.valueTo(), sizes.valueWidth(), valueDim);
    outputRows.set(tokens.components, TOKENS, sizes.valueWidth());
    codec.kernels().floats().products(inputRows, vectorRows, outputRows);
  }

  private void pick(HeadTables head, BlockTokens ids) {
    switch (tables.kind()) {
      case TOKENS -> {
        for (int token = 0; token < TOKENS; token++) {
          tokens.keyPicks[token] = tables.row(ids.id(token));
          tokens.valuePicks[token] = tokens.keyPicks[token];
        }
      }
      case CENTROIDS -> {
        pickNearest(head, Side.KEYS, head.keyWeights());
        pickNearest(head, Side.VALUES, null);
      }
      case OFF -> {} // the one row there is
    }
  }

  /**
   * @param weights how far an error of each channel reaches; null for all alike
   */
  private void pickNearest(HeadTables head, Side side, float[] weights) {
    float[] x = tokens.vectors(side);
    int[] picks = tokens.picks(side);
    int width = sizes.width(side);
    int rows = head.base(side).rows();
    float[] row = new float[width];
    double[] least = new double[TOKENS];
    Arrays.fill(least, Double.POSITIVE_INFINITY);
    for (int r = 0; r < rows; r++) {
      head.base(side).expand(r, row, 0);
      for (int token = 0; token < TOKENS; token++) {
        double distance = 0;
        for (int i = 0; i < width && distance < least[token]; i++) {
          double lost = (x[token * width + i] - row[i]) * (weights == null ? 1 : weights[i]);
          distance += lost * lost;
        }
        if (distance < least[token]) {
          least[token] = distance;
          picks[token] = r;
        }
      }
    }
  }
}
