package dev.kvasir.model;

import dev.kvasir.format.SuperBlock;
import dev.kvasir.kernel.QuantizedWeights.SuperBlockScales;
import java.lang.foreign.MemorySegment;

/** Extracts the factors of super-block scales and minimums, in the format of quantized weights. */
final class ScaleProducts {
  private ScaleProducts() {}

  /** Extracts scales of consecutive blocks. */
  static SuperBlockScales scales(SuperBlock layout, byte[] blocks) {
    return products(layout, blocks, layout::half, layout::factor);
  }

  /** Extracts minimums of consecutive blocks, for a layout that stores them. */
  static SuperBlockScales minimums(SuperBlock layout, byte[] blocks) {
    return products(layout, blocks, layout::minimumHalf, layout::minimumFactor);
  }

  private interface Half {
    short of(MemorySegment source, long offset);
  }

  private interface Factor {
    int of(MemorySegment source, long offset, int group);
  }

  private static SuperBlockScales products(
      SuperBlock layout, byte[] blocks, Half half, Factor factor) {
    MemorySegment source = MemorySegment.ofArray(blocks);
    int groups = layout.groupsPerBlock();
    short[] halves = new short[blocks.length / layout.blockBytes()];
    byte[] factors = new byte[halves.length * groups];
    for (int block = 0; block < halves.length; block++) {
      long at = (long) block * layout.blockBytes();
      halves[block] = half.of(source, at);
      for (int group = 0; group < groups; group++) {
        factors[block * groups + group] = (byte) factor.of(source, at, group);
      }
    }
    return new SuperBlockScales(halves, factors);
  }
}
