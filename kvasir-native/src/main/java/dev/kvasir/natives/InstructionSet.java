package dev.kvasir.natives;

/**
 * Sets of instructions that kernels are built for, a file each. Those that only multiply codes
 * leave floats to the one that they are an addition to.
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

  /** What the names of its functions end in. */
  String suffix() {
    return suffix;
  }

  String label() {
    return label;
  }
}
