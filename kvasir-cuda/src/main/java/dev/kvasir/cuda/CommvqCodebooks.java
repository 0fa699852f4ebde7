package dev.kvasir.cuda;

import dev.kvasir.codec.commvq.ModelCodebooks;

/**
 * What pages of codebook rows mean in a model: its codebooks, and how codes are searched for. Pages
 * of one model and settings are one kind. On a device it is there once, from the first who asks
 * until attention closes it.
 */
public final class CommvqCodebooks {
  /** Sums that a device carries along in the search for codes. */
  static final int MAX_BEAM = 4;

  private final ModelCodebooks codebooks;
  private final int firstPosition;
  private final int positions;
  private final int beam;
  private DeviceCodebooks onDevice; // null until it is asked for, and when it is closed

  /**
   * @param firstPosition of packed tokens: as many as there are sinks
   * @param positions that a sequence has at the most
   * @param beam sums that are carried along in the search
   */
  public CommvqCodebooks(ModelCodebooks codebooks, int firstPosition, int positions, int beam) {
    this.codebooks = codebooks;
    this.firstPosition = firstPosition;
    this.positions = positions;
    this.beam = beam;
  }

  int beam() {
    return beam;
  }

  synchronized DeviceCodebooks open(CudaContext context, CudaStream stream) {
    if (onDevice == null) {
      onDevice = new DeviceCodebooks(context, stream, codebooks, firstPosition, positions);
    }
    return onDevice;
  }

  synchronized void close() {
    if (onDevice != null) {
      onDevice.close();
      onDevice = null;
    }
  }
}
