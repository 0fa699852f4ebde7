package dev.kvasir.codec.basis;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.page.CodeMatrix;
import dev.kvasir.page.ColumnScaledCodes;
import dev.kvasir.page.HeadShape;
import dev.kvasir.page.RowScaledCodes;
import java.util.ArrayList;
import java.util.List;

/** Keys and values alike by token: a scale for each group of a token's channels. */
public final class PerTokenScales {
  private PerTokenScales() {}

  /**
   * @param keys bits, and channels of a group at the most
   */
  public static HeadShape head(UniformOptions options, CacheShape shape) {
    UniformOptions.requireSupported(options.method(), shape);
    List<CodeMatrix> grids = new ArrayList<>();
    for (int first = 0; first < shape.keyDim(); first += options.group()) {
      int channels = Math.min(options.group(), shape.keyDim() - first);
      grids.add(new ColumnScaledCodes(channels, Page.TOKENS, options.keyBits()));
    }
    int group = Math.min(options.group(), shape.valueDim());
    return new HeadShape(
        grids,
        false,
        new RowScaledCodes(Page.TOKENS, shape.valueDim(), options.valueBits(), group));
  }
}
