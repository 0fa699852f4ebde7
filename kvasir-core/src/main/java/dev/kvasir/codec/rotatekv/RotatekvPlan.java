package dev.kvasir.codec.rotatekv;

import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.basis.Clipping;
import dev.kvasir.codec.basis.TokenScales;
import dev.kvasir.codec.uniform.UniformKeys;

/**
 * Rotated groups of heads by token, with channels in order.
 *
 * @param heads that are rotated together at the most
 * @param orders whether channels are put in order after the rotation
 */
record RotatekvPlan(UniformKeys keys, int heads, Clipping clipping, boolean orders)
    implements CachePlan {
  private static final int DEFAULT_HEADS = 4;
  private static final int MOST_HEADS = 64;

  /** As many tokens as the paper's code keeps. */
  private static final int DEFAULT_SINKS = 20;

  static RotatekvPlan of(SpecText spec) {
    UniformKeys keys = UniformKeys.of(spec, "heads", "clip", "order");
    return new RotatekvPlan(
        spec.has("sinks") ? keys : keys.withSinks(DEFAULT_SINKS),
        spec.between("heads", DEFAULT_HEADS, 1, MOST_HEADS),
        new Clipping((float) spec.fraction("clip", 1, 1)),
        spec.isOn("order"));
  }

  @Override
  public CacheSettings settings(CacheShape shape) {
    return settings(shape, CacheHost.unknown());
  }

  @Override
  public CacheSettings settings(CacheShape shape, CacheHost host) {
    KeyGroups groups =
        new KeyGroups(
            shape.kvHeads(), together(shape.kvHeads()), shape.keyDim(), orders, host.rotation());
    return keys.settings(
        new RotatekvCodec(
            groups, TokenScales.head(keys, shape), keys.lookups(), keys.group(), clipping));
  }

  /** The most heads, up to those asked for, that divide a layer's into groups of the same size. */
  private int together(int kvHeads) {
    int most = Math.min(heads, kvHeads);
    while (kvHeads % most != 0) {
      most--;
    }
    return most;
  }
}
