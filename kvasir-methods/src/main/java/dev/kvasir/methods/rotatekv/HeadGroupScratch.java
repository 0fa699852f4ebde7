package dev.kvasir.methods.rotatekv;

/** Scratch arrays of one worker for dequantizing keys of a group of heads. */
final class HeadGroupScratch {
  private float[] rows = {};
  private int[] channels = {};

  /** Returns an array for (tokens, channels of a group). */
  float[] rows(int count) {
    if (rows.length < count) {
      rows = new float[count];
    }
    return rows;
  }

  /** Returns an array for the original channel of each stored one. */
  int[] channels(int count) {
    if (channels.length < count) {
      channels = new int[count];
    }
    return channels;
  }
}
