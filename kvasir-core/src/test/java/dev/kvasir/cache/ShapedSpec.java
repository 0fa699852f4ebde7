package dev.kvasir.cache;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerWindows;

/** A cache specification and the head shape to test it with. */
record ShapedSpec(CacheShape shape, String spec) {
  int keyVector() {
    return shape.kvHeads() * shape.keyDim();
  }

  int valueVector() {
    return shape.kvHeads() * shape.valueDim();
  }

  @Override
  public String toString() {
    return "%s on %d heads of %d and %d channels%s%s"
        .formatted(
            spec,
            shape.kvHeads(),
            shape.keyDim(),
            shape.valueDim(),
            shape.hasValuesInKeys() ? " of theirs" : "",
            shape.windows().equals(LayerWindows.NONE)
                ? ""
                : ", windows " + shape.windows().windows());
  }
}
