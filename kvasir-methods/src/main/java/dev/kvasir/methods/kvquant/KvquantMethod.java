package dev.kvasir.methods.kvquant;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodExample.Trait;
import dev.kvasir.codec.MethodFamily;
import java.util.EnumSet;
import java.util.List;
import java.util.stream.Stream;

/**
 * The KVQuant method: non-uniform levels, keys before RoPE, and a few outliers stored separately.
 */
public final class KvquantMethod extends BitWidthMethod {
  public KvquantMethod() {
    super(
        "kvquant",
        MethodFamily.CODEBOOKS,
        KvquantConfig::of,
        "kvquant:2|3|4: k, v (bits), outliers (0 to 8",
        "  of each vector), levels (fitted|even),",
        "  rope (before|after)");
  }

  @Override
  public List<MethodExample> examples() {
    return Stream.concat(
            MethodExample.of(
                EnumSet.of(Trait.ALTERS_CONSTANTS),
                "kvquant:2",
                "kvquant:2,v=4,outliers=8",
                "kvquant:2,window=0")
                .stream(),
            MethodExample.of("kvquant:3,rope=after,levels=even,outliers=0").stream())
        .toList();
  }
}
