package dev.kvasir.cuda;

import dev.kvasir.codec.commvq.ModelCodebooks;

/**
 * What pages of codebook rows mean in a model: its codebooks, and how codes are searched for. Pages
 * of one model and settings are one kind. On a device it is there once, from the first who asks
 * until attention closes it.
 */
public final class CommvqModel {
  /** Sums that a device carries along in the search for codes. */
  static final int MOST_BEAM = 4;

  private final ModelCodebooks codebooks;
  private final int firstPosition;
  private final int positions;
  private final int beam;
  private DeviceCodebooks opened; // null until it is asked for, and when it is closed

  /**
   * @param firstPosition of packed tokens: as many as there are sinks
   * @param positions that a sequence has at the most
   * @param beam sums that are carried along in the search
   */
  public CommvqModel(ModelCodebooks codebooks, int firstPosition, int positions, int beam) {
    this.codebooks = codebooks;
    this.firstPosition = firstPosition;
    this.positions = positions;
    this.beam = beam;
  }

  int beam() {
    return beam;
  }

  synchronized DeviceCodebooks open(Context context, Stream stream) {
    if (opened == null) {
      opened = new DeviceCodebooks(context, stream, codebooks, firstPosition, positions);
    }
    return opened;
  }

  synchronized void close() {
    if (opened != null) {
      opened.close();
      opened = null;
    }
  }
}
