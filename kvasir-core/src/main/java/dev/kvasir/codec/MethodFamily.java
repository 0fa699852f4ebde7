package dev.kvasir.codec;

/** What distinguishes a method from uniform codes; reports color methods by it, in this order. */
public enum MethodFamily {
  /** Stores differences from tables of tokens. */
  TOKEN_TABLES,

  /** Chooses scales or references of groups. */
  GROUP_SCALES,

  /** Rotates or balances channels first. */
  ROTATIONS,

  /** Gives more bits to some layers, channels or tokens. */
  MIXED_WIDTHS,

  /** Stores indices of learned vectors or levels. */
  CODEBOOKS,

  OTHER
}
