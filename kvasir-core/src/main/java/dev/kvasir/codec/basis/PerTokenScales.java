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

/**
 * The layout of heads with per-token scales for keys and values: one scale per group of a token's
 * channels.
 */
public final class PerTokenScales {
  private PerTokenScales() {}

  /**
   * Returns the layout of a head.
   *
   * @param options bits, and the maximum channels of a group
   */
  public static HeadShape head(UniformOptions options, CacheShape shape) {
    UniformOptions.requireSupported(options.method(), shape);
    List<CodeMatrix> matrices = new ArrayList<>();
    for (int first = 0; first < shape.keyDim(); first += options.group()) {
      int channels = Math.min(options.group(), shape.keyDim() - first);
      matrices.add(new ColumnScaledCodes(channels, Page.TOKENS, options.keyBits()));
    }
    int group = Math.min(options.group(), shape.valueDim());
    return new HeadShape(
        matrices,
        false,
        new RowScaledCodes(Page.TOKENS, shape.valueDim(), options.valueBits(), group));
  }
}
