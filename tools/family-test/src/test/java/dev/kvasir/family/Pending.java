package dev.kvasir.family;

import java.util.EnumSet;
import java.util.Set;

/** What the engine does not run yet; whoever teaches it a family takes its name out. */
final class Pending {
  private static final Set<Family> FAMILIES =
      EnumSet.of(
          Family.GEMMA2,
          Family.GEMMA3,
          Family.GEMMA3_WIDE,
          Family.PHI3,
          Family.GRANITE,
          Family.OLMO2,
          Family.SMOLLM3,
          Family.GPT_OSS,
          Family.DEEPSEEK2_LITE,
          Family.DEEPSEEK2_LITE_YARN,
          Family.DEEPSEEK2,
          Family.DEEPSEEK3,
          Family.LLAMA_YARN,
          Family.QWEN2_YARN,
          Family.PHI3_SHORT,
          Family.PHI3_LONG);

  private Pending() {}

  static boolean contains(Family family) {
    return FAMILIES.contains(family);
  }
}
