package dev.kvasir.codec.progressive;

import dev.kvasir.codec.ShrinkingSequence;
import dev.kvasir.page.HeadShape;
import dev.kvasir.page.Page;
import dev.kvasir.page.UniformPage;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** The widths that pages of the layers of one sequence are sealed at. */
final class ProgressiveSequence implements ShrinkingSequence {
  private final ProgressiveCodec codec;
  private final int[] levels; // by layer

  ProgressiveSequence(ProgressiveCodec codec, int[] levels) {
    this.codec = codec;
    this.levels = levels;
  }

  @Override
  public Page seal(int layer, int position, float[] keys, float[] values) {
    Optional<Smoothing> smoothing = smoothing(layer);
    smoothing.ifPresent(factors -> factors.divide(keys, Page.TOKENS));
    UniformPage codes = UniformPage.pack(codec.shapes(levels[layer]), keys, values);
    return new ProgressivePage(codes, levels[layer], smoothing);
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
    return ((ProgressivePage) page).level();
  }

  @Override
  public Supplier<Page> shrunk(Page page, int level) {
    ProgressivePage wide = (ProgressivePage) page;
    List<HeadShape> shapes = codec.shapes(level);
    MemorySegment bytes = codec.narrowing().narrow(wide.codes(), shapes);
    return () -> new ProgressivePage(UniformPage.of(shapes, bytes), level, wide.smoothing());
  }

  @Override
  public ShrinkingSequence fork() {
    return new ProgressiveSequence(codec, levels.clone());
  }
}
