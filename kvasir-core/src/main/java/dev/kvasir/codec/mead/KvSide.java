package dev.kvasir.codec.mead;

/** Selects the keys or the values of a token. */
enum KvSide {
  KEYS,
  VALUES;

  static final int COUNT = values().length;
}
