package dev.kvasir.methods.vqllm;

/**
 * The channels of a head in groups of {@link #CHANNELS}, contiguous or strided. The last group may
 * have fewer and is padded with zeros.
 *
 * @param dim channels of a head
 * @param strided whether the channels of a group are apart, which suits keys better
 */
public record ChannelGroups(int dim, boolean strided) {
  /** Channels of a group. */
  public static final int CHANNELS = 32;

  public int count() {
    return Math.ceilDiv(dim, CHANNELS);
  }

  /** Returns the channel of a group's member; {@code dim} or more for padding. */
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

  /** Returns the padded number of channels. */
  int width() {
    return count() * CHANNELS;
  }

  /**
   * Returns the channel of each group member, {@code -1} for padding.
   *
   * @param channels channel at each index of a head, in the head's own order
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
