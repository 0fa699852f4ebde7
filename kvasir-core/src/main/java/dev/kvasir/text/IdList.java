package dev.kvasir.text;

import java.util.Arrays;

/** A growing array of token ids. */
final class IdList {
  private int[] ids = new int[64];
  private int size;

  void add(int id) {
    if (size == ids.length) {
      ids = Arrays.copyOf(ids, size * 2);
    }
    ids[size++] = id;
  }

  int[] toArray() {
    return Arrays.copyOf(ids, size);
  }
}
