package dev.kvasir.natives;

/**
 * Sets of instructions that kernels are built for, a file each. Those that only multiply codes
 * leave floats to the one that they are an addition to.
 */
enum Instructions {
  NEON("neon", 4, "NEON"),
  DOTPROD("dotprod", 4, "NEON with dot products"),
  AVX2("avx2", 8, "AVX2"),
  AVXVNNI("avxvnni", 8, "AVX-VNNI"),
  AVX512("avx512", 16, "AVX-512 with VNNI");

  private final String suffix;
  private final int lanes;
  private final String words;

  Instructions(String suffix, int lanes, String words) {
    this.suffix = suffix;
    this.lanes = lanes;
    this.words = words;
  }

  /** What the names of its functions end in. */
  String suffix() {
    return suffix;
  }

  /** Floats in a vector. */
  int lanes() {
    return lanes;
  }

  String words() {
    return words;
  }
}
