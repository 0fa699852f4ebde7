package dev.kvasir.codec.kvquant;

import dev.kvasir.codec.BitWidthMethod;

/**
 * The KVQuant method: non-uniform levels, keys before RoPE, and a few outliers stored separately.
 */
public final class KvquantMethod extends BitWidthMethod {
  public KvquantMethod() {
    super(
        "kvquant",
        KvquantConfig::of,
        "kvquant:2|3|4: k, v (bits), outliers (0 to 8",
        "  of each vector), levels (fitted|even),",
        "  rope (before|after)");
  }
}
