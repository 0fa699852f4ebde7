package dev.kvasir.codec.pmkvq;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.ShrinkingSequence;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.page.HeadShape;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/** The widths that pages of the layers of one sequence are sealed at. */
final class PmkvqSequence implements ShrinkingSequence {
  private final PmkvqCodec codec;
  private final int[] levels; // by layer

  PmkvqSequence(PmkvqCodec codec, int[] levels) {
    this.codec = codec;
    this.levels = levels;
  }

  @Override
  public Page seal(int layer, int position, float[] keys, float[] values) {
    Optional<Smoothing> smoothing = smoothing(layer);
    smoothing.ifPresent(factors -> factors.divide(keys, Page.TOKENS));
    UniformPage codes =
        UniformPage.pack(codec.shapes(levels[layer]), codec.lookups(), keys, values);
    return new PmkvqPage(codes, levels[layer], smoothing);
  }

  private Optional<Smoothing> smoothing(int layer) {
    return codec.smoothing().isEmpty()
        ? Optional.empty()
        : Optional.of(codec.smoothing().get(layer));
  }

  @Override
  public int level(int layer) {
    return levels[layer];
  }

  @Override
  public void moveTo(int layer, int level) {
    levels[layer] = level;
  }

  @Override
  public int level(Page page) {
    return ((PmkvqPage) page).level();
  }

  @Override
  public Page shrunk(Page page, int level) {
    PmkvqPage wide = (PmkvqPage) page;
    List<HeadShape> shapes = codec.shapes(level);
    MemorySegment bytes = codec.narrowing().narrow(wide.codes(), shapes);
    return new PmkvqPage(UniformPage.of(shapes, codec.lookups(), bytes), level, wide.smoothing());
  }

  @Override
  public ShrinkingSequence fork() {
    return new PmkvqSequence(codec, levels.clone());
  }
}
