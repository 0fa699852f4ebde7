package dev.kvasir.codec.kvarn;

import dev.kvasir.codec.BitWidthMethod;

/** KVarN: rotated heads, whose tokens and channels are brought to one variance before coding. */
public final class KvarnMethod extends BitWidthMethod {
  public KvarnMethod() {
    super("kvarn", KvarnConfig::of, "kvarn:1|2|3|4|8: k, v (bits),", "  group (32|64|128), rounds");
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }
}
