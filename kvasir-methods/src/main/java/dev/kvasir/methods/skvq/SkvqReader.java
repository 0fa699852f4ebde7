package dev.kvasir.methods.skvq;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.uniform.UniformReader;
import java.util.Arrays;

/**
 * Computes attention on packed codes; restores the channel order of what a page adds to the output.
 */
final class SkvqReader implements PageReader {
  static final PageReaders.Kind<SkvqReader> KIND = new PageReaders.Kind<>(SkvqReader::new);

  private final int valueDim;
  private final UniformReader uniform;
  private final float[] outputs; // (rows, valueDim), in the page's channel order

  private SkvqReader(PageReaders readers) {
    this.valueDim = readers.valueDim();
    this.uniform = readers.of(UniformReader.KIND);
    this.outputs = new float[PageReader.MAX_ROWS * valueDim];
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    uniform.score(((SkvqPage) page).codes(), kvHead, queries, rows, scores);
  }

  @Override
  public void accumulate(Page page, int kvHead, float[] weights, int rows, float[] accumulator) {
    SkvqPage ordered = (SkvqPage) page;
    Arrays.fill(outputs, 0, rows * valueDim, 0);
    uniform.accumulate(ordered.codes(), kvHead, weights, rows, outputs);
    for (int place = 0; place < valueDim; place++) {
      int channel = ordered.orders().channelAt(kvHead, place);
      for (int row = 0; row < rows; row++) {
        accumulator[row * valueDim + channel] += outputs[row * valueDim + place];
      }
    }
  }
}
