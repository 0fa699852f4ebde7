package dev.kvasir.codec.pmkvq;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.page.CodeMatrix;
import dev.kvasir.page.ColumnScaledCodes;
import dev.kvasir.page.HeadShape;
import dev.kvasir.page.RowScaledCodes;
import dev.kvasir.page.ScaleSpan;
import dev.kvasir.page.WideCodes;
import java.util.ArrayList;
import java.util.List;

/**
 * The shapes of a KV head at every level. Values have per-token scales in groups of at most 128
 * channels; keys have per-token or per-channel scales. Level 0 has 16 bits, and each further level
 * half as many.
 */
final class LevelShapes {
  static final int WIDEST = 16;
  private static final int NARROWEST = 2;
  private static final int MAX_GROUP = 128;

  private final List<HeadShape> shapes = new ArrayList<>();

  LevelShapes(CacheShape shape, KeyScaleAxis scales) {
    int keyDim = shape.keyDim();
    for (int bits = WIDEST; bits >= NARROWEST; bits /= 2) {
      List<CodeMatrix> keys =
          switch (scales) {
            case TOKEN -> keysByToken(keyDim, bits);
            case CHANNEL -> List.of(keysByChannel(keyDim, bits));
          };
      HeadShape head = new HeadShape(keys, false, values(shape.valueDim(), bits));
      shapes.add(shape.hasValuesInKeys() ? head.withValuesInKeys() : head);
    }
  }

  static int bits(int level) {
    return WIDEST >> level;
  }

  static int level(int bits) {
    return Integer.numberOfTrailingZeros(WIDEST / bits);
  }

  HeadShape at(int level) {
    return shapes.get(level);
  }

  private static List<CodeMatrix> keysByToken(int keyDim, int bits) {
    List<CodeMatrix> blocks = new ArrayList<>();
    for (int first = 0; first < keyDim; first += MAX_GROUP) {
      int channels = Math.min(MAX_GROUP, keyDim - first);
      blocks.add(
          bits == WIDEST
              ? new WideCodes(channels, Page.TOKENS, true, channels)
              : new ColumnScaledCodes(channels, Page.TOKENS, bits, ScaleSpan.THIRD));
    }
    return blocks;
  }

  private static CodeMatrix keysByChannel(int keyDim, int bits) {
    int group = KeyScaleAxis.tokensPerGroup(keyDim);
    return bits == WIDEST
        ? new WideCodes(keyDim, Page.TOKENS, false, group)
        : new RowScaledCodes(keyDim, Page.TOKENS, bits, group, ScaleSpan.THIRD);
  }

  private static CodeMatrix values(int valueDim, int bits) {
    int group = Math.min(MAX_GROUP, valueDim);
    return bits == WIDEST
        ? new WideCodes(Page.TOKENS, valueDim, false, group)
        : new RowScaledCodes(Page.TOKENS, valueDim, bits, group, ScaleSpan.THIRD);
  }
}
