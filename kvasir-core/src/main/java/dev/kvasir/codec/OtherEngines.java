package dev.kvasir.codec;

import java.util.Map;
import java.util.Optional;

/** The names that llama.cpp, vLLM and others give to KV caches, for messages. */
final class OtherEngines {
  private static final Map<String, String> EQUIVALENTS =
      Map.ofEntries(
          Map.entry("none", "fp16"),
          Map.entry("f16", "fp16"),
          Map.entry("float16", "fp16"),
          Map.entry("bfloat16", "bf16"),
          Map.entry("f32", "fp32"),
          Map.entry("q8_0", "kivi:8"),
          Map.entry("int8", "kivi:8"),
          Map.entry("fp8", "kivi:8"),
          Map.entry("fp8_e4m3", "kivi:8"),
          Map.entry("fp8_e5m2", "kivi:8"),
          Map.entry("q5_0", "kivi:4"),
          Map.entry("q5_1", "kivi:4"),
          Map.entry("q4_0", "kivi:4"),
          Map.entry("q4_1", "kivi:4"),
          Map.entry("iq4_nl", "kivi:4"),
          Map.entry("int4", "kivi:4"),
          Map.entry("nvfp4", "kivi:4"));

  private OtherEngines() {}

  /** Returns the cache of Kvasir with about the same bits. */
  static Optional<String> equivalent(String name) {
    return Optional.ofNullable(EQUIVALENTS.get(name));
  }
}
