package dev.kvasir.cuda.formats.commvq;

import dev.kvasir.codec.commvq.ModelCodebooks;
import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;

/**
 * The codebooks of a model and the settings of the search for codes. Caches with the same instance
 * share their device resources. The codebooks are uploaded once, on first use, and freed when
 * attention is closed.
 */
public final class CommvqCodebooks {
  /** Maximum beam width of the search on a device. */
  static final int MAX_BEAM = 4;

  private final ModelCodebooks codebooks;
  private final int firstPosition;
  private final int positions;
  private final int beam;
  private DeviceCodebooks onDevice; // null before the first use and after close

  /**
   * @param firstPosition position of the first quantized token: the number of sinks
   * @param positions maximum length of a sequence
   * @param beam beam width of the search
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
