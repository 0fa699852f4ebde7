package dev.kvasir.methods.qserve;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodFamily;
import java.util.List;

/**
 * The KV-cache part of QServe: smooths keys by channel factors, then quantizes per token and head.
 */
public final class QserveMethod extends BitWidthMethod {
  public QserveMethod() {
    super(
        "qserve",
        QserveConfig::of,
        "qserve:1|2|3|4|8: k, v (bits),",
        "  group (32|64|128), smoothing (on|off)");
  }

  @Override
  public MethodFamily family() {
    return MethodFamily.ROTATIONS;
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }

  @Override
  public List<MethodExample> examples() {
    return MethodExample.of("qserve:4", "qserve:2,window=0", "qserve:4,sinks=5");
  }
}
