package dev.kvasir.methods.kvarn;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodExample.Trait;
import dev.kvasir.codec.MethodFamily;
import java.util.EnumSet;
import java.util.List;

/**
 * The KVarN method: rotates heads, then normalizes the variance of tokens and channels before
 * quantization.
 */
public final class KvarnMethod extends BitWidthMethod {
  public KvarnMethod() {
    super("kvarn", KvarnConfig::of, "kvarn:1|2|3|4|8: k, v (bits),", "  group (32|64|128), rounds");
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
    return MethodExample.of(
        EnumSet.of(Trait.ALTERS_CONSTANTS),
        "kvarn:2,sinks=5",
        "kvarn:3,group=32,window=0",
        "kvarn:2,rounds=2");
  }
}
