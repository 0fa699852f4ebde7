package dev.kvasir.codec.qserve;

import dev.kvasir.codec.BitWidthMethod;

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
  public boolean supportsOperandPrecision() {
    return true;
  }
}
