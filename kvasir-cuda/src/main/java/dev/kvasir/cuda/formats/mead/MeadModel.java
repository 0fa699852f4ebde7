package dev.kvasir.cuda.formats.mead;

import dev.kvasir.codec.mead.MeadParameters;
import dev.kvasir.codec.mead.TableKind;
import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.kernel.Rotation;
import java.util.stream.IntStream;

/**
 * The tables of a model and the layout of its pages. Caches with the same instance share their
 * device resources. Tables are uploaded once, on first use, and freed when attention is closed.
 */
public final class MeadModel {
  private final MeadParameters parameters;
  private final Rotation rotation;
  private final int firstPosition;
  private final int positions;
  private final int headDim;
  private final BlockLayout layout;
  private DeviceTables onDevice; // null before the first use and after close

  /**
   * @param firstPosition position of the first quantized token: the number of sinks
   * @param positions maximum length of a sequence
   */
  public MeadModel(MeadParameters parameters, Rotation rotation, int firstPosition, int positions) {
    this.parameters = parameters;
    this.rotation = rotation;
    this.firstPosition = firstPosition;
    this.positions = positions;
    this.headDim = parameters.headDim().orElseThrow();
    this.layout = BlockLayout.of(parameters, rotation, headDim);
  }

  MeadParameters parameters() {
    return parameters;
  }

  Rotation rotation() {
    return rotation;
  }

  int firstPosition() {
    return firstPosition;
  }

  int positions() {
    return positions;
  }

  int headDim() {
    return headDim;
  }

  BlockLayout layout() {
    return layout;
  }

  /** Returns whether attention dequantizes pages, since predictions differ by token. */
  boolean isDecoded() {
    return parameters.kind() != TableKind.OFF
        || IntStream.range(0, parameters.layers()).anyMatch(parameters::isTokenDetermined);
  }

  /** Returns the bytes of the tables on a device. */
  long bytes() {
    return DeviceTables.bytes(this);
  }

  synchronized DeviceTables open(CudaContext context, CudaStream stream) {
    if (onDevice == null) {
      onDevice = new DeviceTables(context, stream, this);
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
