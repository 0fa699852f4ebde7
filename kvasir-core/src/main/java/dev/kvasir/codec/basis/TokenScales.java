package dev.kvasir.codec.basis;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.uniform.UniformKeys;
import dev.kvasir.page.CodeGrid;
import dev.kvasir.page.EntryScaledCodes;
import dev.kvasir.page.HeadShape;
import dev.kvasir.page.LaneScaledCodes;
import java.util.ArrayList;
import java.util.List;

/** Keys and values alike by token: a scale for each group of a token's channels. */
public final class TokenScales {
  private TokenScales() {}

  /**
   * @param keys bits, and channels of a group at the most
   */
  public static HeadShape head(UniformKeys keys, CacheShape shape) {
    UniformKeys.requirePackable(keys.method(), shape);
    List<CodeGrid> grids = new ArrayList<>();
    for (int first = 0; first < shape.keyDim(); first += keys.group()) {
      int channels = Math.min(keys.group(), shape.keyDim() - first);
      grids.add(new LaneScaledCodes(channels, Page.TOKENS, keys.keyBits()));
    }
    int group = Math.min(keys.group(), shape.valueDim());
    return new HeadShape(
        grids, false, new EntryScaledCodes(Page.TOKENS, shape.valueDim(), keys.valueBits(), group));
  }
}
