package dev.kvasir.lab.codebook;

import dev.kvasir.lab.codebook.VectorSample.Side;
import java.io.Serializable;
import java.util.Locale;

/**
 * Identifies a codebook.
 *
 * @param kvHead for keys the KV head, for values the group of KV heads
 */
public record HeadId(Side side, int layer, int kvHead) implements Serializable {
  /** Returns a readable name. */
  String name() {
    return "layer %d %s %d".formatted(layer, side.name().toLowerCase(Locale.ROOT), kvHead);
  }
}
