package dev.kvasir.lab.codebook;

import dev.kvasir.lab.codebook.VectorSample.Side;
import java.io.Serializable;
import java.util.Locale;

/** Whose codebook it is. */
public record HeadId(Side side, int layer, int kvHead) implements Serializable {
  /** In words. */
  String name() {
    return "layer %d %s %d".formatted(layer, side.name().toLowerCase(Locale.ROOT), kvHead);
  }
}
