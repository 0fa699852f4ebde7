package dev.kvasir.codec.vqllm;

/**
 * The channels of a head in groups of {@link #CHANNELS}, of which the last may have fewer and is
 * filled up with zeros: those that lie side by side, or every so manieth.
 *
 * @param dim channels of a head
 * @param apart whether channels of a group lie apart, as is better for keys
 */
public record ChannelGroups(int dim, boolean strided) {
  /** Of a group. */
  public static final int CHANNELS = 32;

  public int count() {
    return Math.ceilDiv(dim, CHANNELS);
  }

  /** Where a group's member lies in a head, {@code dim} or beyond where there is none. */
  private int channelAt(int group, int member) {
    return strided ? member * count() + group : group * CHANNELS + member;
  }

  /**
   * @param x a head's vector from {@code at} on
   * @param out (groups, CHANNELS) from {@code to} on, set
   */
  public void gather(float[] x, int at, float factor, float[] out, int to) {
    for (int group = 0; group < count(); group++) {
      for (int member = 0; member < CHANNELS; member++) {
        int place = channelAt(group, member);
        out[to + group * CHANNELS + member] = place < dim ? x[at + place] * factor : 0;
      }
    }
  }

  /** Numbers of a head in groups, filled up. */
  int width() {
    return count() * CHANNELS;
  }

  /**
   * The channels of a head by their places in groups, {@code -1} where there is none.
   *
   * @param channels at each place of a head, where it has an order of its own
   * @return (groups, CHANNELS)
   */
  int[] members(int[] channels) {
    int[] members = new int[width()];
    for (int i = 0; i < members.length; i++) {
      int place = channelAt(i / CHANNELS, i % CHANNELS);
      members[i] = place < dim ? channels[place] : -1;
    }
    return members;
  }
}
