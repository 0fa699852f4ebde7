package dev.kvasir.codec.rotatekv;

/** One worker's room for keys of a group of heads while they are expanded. */
final class HeadGroupScratch {
  private float[] rows = {};
  private int[] channels = {};

  /** (tokens, channels of a group). */
  float[] rows(int count) {
    if (rows.length < count) {
      rows = new float[count];
    }
    return rows;
  }

  /** Where the channels that lie in the place of a head belong. */
  int[] channels(int count) {
    if (channels.length < count) {
      channels = new int[count];
    }
    return channels;
  }
}
