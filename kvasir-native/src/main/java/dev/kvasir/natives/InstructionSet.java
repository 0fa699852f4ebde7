package dev.kvasir.natives;

/**
 * The instruction sets that kernels are built for, one C file each. Sets that only add integer dot
 * products use the float functions of the set that they extend.
 */
enum InstructionSet {
  NEON("neon", "NEON"),
  DOTPROD("dotprod", "NEON with dot products"),
  AVX2("avx2", "AVX2"),
  AVXVNNI("avxvnni", "AVX-VNNI"),
  AVX512("avx512", "AVX-512 with VNNI");

  private final String suffix;
  private final String label;

  InstructionSet(String suffix, String label) {
    this.suffix = suffix;
    this.label = label;
  }

  /** Returns the suffix of its function names. */
  String suffix() {
    return suffix;
  }

  String label() {
    return label;
  }
}
