package dev.kvasir.lab.codebook;

import dev.kvasir.lab.codebook.VectorSample.Side;
import java.io.Serializable;
import java.util.Locale;

/** Identifies the codebook of a head. */
public record HeadId(Side side, int layer, int kvHead) implements Serializable {
  /** Returns a readable name. */
  String name() {
    return "layer %d %s %d".formatted(layer, side.name().toLowerCase(Locale.ROOT), kvHead);
  }
}
