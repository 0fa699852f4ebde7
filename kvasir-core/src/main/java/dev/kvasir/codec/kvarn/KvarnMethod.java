package dev.kvasir.codec.kvarn;

import dev.kvasir.codec.BitWidthMethod;

/**
 * The KVarN method: rotates heads, then normalizes the variance of tokens and channels before
 * quantization.
 */
public final class KvarnMethod extends BitWidthMethod {
  public KvarnMethod() {
    super("kvarn", KvarnConfig::of, "kvarn:1|2|3|4|8: k, v (bits),", "  group (32|64|128), rounds");
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }
}
