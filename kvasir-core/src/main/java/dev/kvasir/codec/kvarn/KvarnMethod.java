package dev.kvasir.codec.kvarn;

import dev.kvasir.codec.MethodOfBits;

/** KVarN: rotated heads, whose tokens and channels are brought to one variance before coding. */
public final class KvarnMethod extends MethodOfBits {
  public KvarnMethod() {
    super("kvarn", KvarnPlan::of, "kvarn:1|2|3|4|8: k, v (bits),", "  group (32|64|128), rounds");
  }

  @Override
  public boolean looksUp() {
    return true;
  }
}
