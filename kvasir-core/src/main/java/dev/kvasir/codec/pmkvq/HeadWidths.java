package dev.kvasir.codec.pmkvq;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.page.CodeGrid;
import dev.kvasir.page.EntryScaledCodes;
import dev.kvasir.page.HeadShape;
import dev.kvasir.page.LaneScaledCodes;
import dev.kvasir.page.ScaleSpan;
import dev.kvasir.page.WideCodes;
import java.util.ArrayList;
import java.util.List;

/**
 * A KV head's shape at every level: values by token, in groups of at most 128 channels, and keys by
 * token or by channel. Level 0 has 16 bits, and each further one half as many.
 */
final class HeadWidths {
  static final int WIDEST = 16;
  private static final int NARROWEST = 2;
  private static final int MOST_GROUP = 128;

  private final List<HeadShape> shapes = new ArrayList<>();

  HeadWidths(CacheShape shape, KeyScales scales) {
    int keyDim = shape.keyDim();
    for (int bits = WIDEST; bits >= NARROWEST; bits /= 2) {
      List<CodeGrid> keys =
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

  /** The level of a width. */
  static int level(int bits) {
    return Integer.numberOfTrailingZeros(WIDEST / bits);
  }

  HeadShape at(int level) {
    return shapes.get(level);
  }

  private static List<CodeGrid> keysByToken(int keyDim, int bits) {
    List<CodeGrid> blocks = new ArrayList<>();
    for (int first = 0; first < keyDim; first += MOST_GROUP) {
      int channels = Math.min(MOST_GROUP, keyDim - first);
      blocks.add(
          bits == WIDEST
              ? new WideCodes(channels, Page.TOKENS, true, channels)
              : new LaneScaledCodes(channels, Page.TOKENS, bits, ScaleSpan.THIRD));
    }
    return blocks;
  }

  private static CodeGrid keysByChannel(int keyDim, int bits) {
    int group = KeyScales.tokensOfAGroup(keyDim);
    return bits == WIDEST
        ? new WideCodes(keyDim, Page.TOKENS, false, group)
        : new EntryScaledCodes(keyDim, Page.TOKENS, bits, group, ScaleSpan.THIRD);
  }

  private static CodeGrid values(int valueDim, int bits) {
    int group = Math.min(MOST_GROUP, valueDim);
    return bits == WIDEST
        ? new WideCodes(Page.TOKENS, valueDim, false, group)
        : new EntryScaledCodes(Page.TOKENS, valueDim, bits, group, ScaleSpan.THIRD);
  }
}
