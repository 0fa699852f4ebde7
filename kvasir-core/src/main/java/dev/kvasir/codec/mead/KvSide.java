package dev.kvasir.codec.mead;

/** The two vectors of a token. */
enum KvSide {
  KEYS,
  VALUES;

  static final int COUNT = values().length;
}
