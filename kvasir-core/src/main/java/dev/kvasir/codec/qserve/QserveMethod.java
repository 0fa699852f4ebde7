package dev.kvasir.codec.qserve;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.Method;
import dev.kvasir.codec.SpecText;
import java.util.List;

/**
 * QServe, its cache alone: keys evened out by factors of channels, then codes by token and head.
 */
public final class QserveMethod implements Method {
  @Override
  public List<String> names() {
    return List.of("qserve");
  }

  @Override
  public String typed() {
    return "qserve:BITS";
  }

  @Override
  public List<String> help() {
    return List.of("qserve:1|2|3|4|8: k, v (bits),", "  group (32|64|128), smoothing (on|off)");
  }

  @Override
  public CachePlan plan(SpecText spec) {
    return QservePlan.of(spec);
  }

  @Override
  public boolean looksUp() {
    return true;
  }
}
