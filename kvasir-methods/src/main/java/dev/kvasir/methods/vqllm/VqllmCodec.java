package dev.kvasir.methods.vqllm;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.memory.SharedArena;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Quantizes tokens with the codebooks of their layer.
 *
 * @param codebooks by layer; empty for estimates
 * @param keyRotation RoPE of keys; empty for estimates
 * @param groupedRope RoPE of keys in group order; empty unless all groups are full
 * @param keyMembers channel of each key group member
 * @param valueMembers channel of each value group member
 */
record VqllmCodec(
    VqllmPageLayout layout,
    List<LayerResidualCodebooks> codebooks,
    Optional<KeyRotation> keyRotation,
    Optional<GroupedRopeTable> groupedRope,
    int[] keyMembers,
    int[] valueMembers,
    Kernels kernels)
    implements StatelessCodec {
  private static final float MAX_SCALE = 65504; // the largest half

  static VqllmCodec forEstimate(CacheShape shape, int stages) {
    return new VqllmCodec(
        VqllmPageLayout.of(shape, stages),
        List.of(),
        Optional.empty(),
        Optional.empty(),
        new int[0],
        new int[0],
        null);
  }

  static VqllmCodec of(
      CacheShape shape,
      int stages,
      List<LayerResidualCodebooks> codebooks,
      KeyRotation keyRotation,
      Kernels kernels) {
    VqllmPageLayout pages = VqllmPageLayout.of(shape, stages);
    return new VqllmCodec(
        pages,
        codebooks,
        Optional.of(keyRotation),
        keyRotation.groupedTable(pages.keys()),
        pages.keys().members(keyRotation.channels()),
        pages.values().members(IntStream.range(0, shape.valueDim()).toArray()),
        kernels);
  }

  @Override
  public Page quantize(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    int keyDim = layout.keys().dim();
    for (int head = 0; head < layout.kvHeads(); head++) {
      keyRotation.orElseThrow().unrotate(keys, head * Page.TOKENS * keyDim, Page.TOKENS, position);
    }
    VqllmPage page = new VqllmPage(memory, this, codebooks.get(layer), position);
    try {
      encode(page, layout.keys(), codebooks.get(layer).keys(), keys);
      encode(page, layout.values(), codebooks.get(layer).values(), values);
      return page;
    } catch (RuntimeException | Error e) {
      page.close();
      throw e;
    }
  }

  /**
   * @param x (kvHeads, tokens, dim)
   */
  private void encode(VqllmPage page, ChannelGroups side, ResidualCodebooks rows, float[] x) {
    float[] scales = scales(x, side.dim());
    int width = side.count() * ChannelGroups.CHANNELS;
    float[] grouped = new float[Page.TOKENS * width];
    byte[] codes = new byte[layout.headCodes(side)];
    for (int head = 0; head < layout.kvHeads(); head++) {
      for (int token = 0; token < Page.TOKENS; token++) {
        int at = (head * Page.TOKENS + token) * side.dim();
        float factor = scales[token] == 0 ? 0 : 1 / scales[token];
        side.gather(x, at, factor, grouped, token * width);
      }
      rows.encode(kernels, grouped, Page.TOKENS * side.count(), layout.stages(), codes);
      page.write(side, head, codes);
    }
    page.writeScales(side, scales);
  }

  /** Returns the root mean square of each token over all heads, rounded to halves. */
  private float[] scales(float[] x, int dim) {
    float[] scales = new float[Page.TOKENS];
    for (int token = 0; token < Page.TOKENS; token++) {
      double sum = 0;
      for (int head = 0; head < layout.kvHeads(); head++) {
        int at = (head * Page.TOKENS + token) * dim;
        for (int i = at; i < at + dim; i++) {
          sum += (double) x[i] * x[i];
        }
      }
      double root = Math.min(MAX_SCALE, Math.sqrt(sum / (layout.kvHeads() * dim)));
      scales[token] = Float.float16ToFloat(Float.floatToFloat16((float) root));
    }
    return scales;
  }

  @Override
  public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
    return VqllmPage.read(memory, snapshot, this, codebooks.get(layer));
  }

  @Override
  public long pageBytes() {
    return layout.bytes();
  }

  @Override
  public long codeBytes() {
    return layout.codeBytes();
  }

  @Override
  public long sharedBytes() {
    return codebooks.stream()
        .mapToLong(layer -> layer.keys().bytes() + layer.values().bytes())
        .sum();
  }
}
