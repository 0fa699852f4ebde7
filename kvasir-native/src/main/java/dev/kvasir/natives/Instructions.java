package dev.kvasir.natives;

/**
 * Sets of instructions that kernels are built for, a file each. Those that only multiply codes
 * leave floats to the one that they are an addition to.
 */
enum Instructions {
  NEON("neon", "NEON"),
  DOTPROD("dotprod", "NEON with dot products"),
  AVX2("avx2", "AVX2"),
  AVXVNNI("avxvnni", "AVX-VNNI"),
  AVX512("avx512", "AVX-512 with VNNI");

  private final String suffix;
  private final String words;

  Instructions(String suffix, String words) {
    this.suffix = suffix;
    this.words = words;
  }

  /** What the names of its functions end in. */
  String suffix() {
    return suffix;
  }

  String words() {
    return words;
  }
}
