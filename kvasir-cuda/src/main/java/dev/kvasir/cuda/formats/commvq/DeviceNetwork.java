package dev.kvasir.cuda.formats.commvq;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import dev.kvasir.codec.commvq.ValueEncoder;
import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.kernel.DenseMatrix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** The networks that encode the values of all layers, with matrices in half precision. */
final class DeviceNetwork implements AutoCloseable {
  private final CudaContext context;
  private final CudaStream stream;
  private final List<ValueEncoder> layers;
  private final List<AutoCloseable> owned = new ArrayList<>();
  private final DeviceMemory channelScales;
  private final DeviceMemory gain;
  private final DeviceMemory shift;
  private final DeviceMemory inner;
  private final DeviceMemory innerBias;
  private final DeviceMemory outer;
  private final DeviceMemory outerBias;
  private final DeviceMemory codebook;

  DeviceNetwork(CudaContext context, CudaStream stream, List<ValueEncoder> layers) {
    this.context = context;
    this.stream = stream;
    this.layers = layers;
    try {
      this.channelScales = floats(ValueEncoder::channelScales);
      this.gain = floats(ValueEncoder::gain);
      this.shift = floats(ValueEncoder::shift);
      this.inner = halves(ValueEncoder::inner);
      this.innerBias = floats(ValueEncoder::innerBias);
      this.outer = halves(ValueEncoder::outer);
      this.outerBias = floats(ValueEncoder::outerBias);
      this.codebook = halves(ValueEncoder::codebook);
    } catch (RuntimeException | Error e) {
      Resources.closeAfter(e, this);
      throw e;
    }
  }

  private DeviceMemory floats(Function<ValueEncoder, float[]> part) {
    long bytes = (long) Float.BYTES * part.apply(layers.getFirst()).length;
    DeviceMemory memory = allocate(layers.size() * bytes);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment layer = arena.allocate(bytes, 64);
      for (int i = 0; i < layers.size(); i++) {
        float[] numbers = part.apply(layers.get(i));
        MemorySegment.copy(numbers, 0, layer, JAVA_FLOAT_UNALIGNED, 0, numbers.length);
        memory.upload(stream, i * bytes, layer, bytes);
        stream.synchronize();
      }
    }
    return memory;
  }

  private DeviceMemory halves(Function<ValueEncoder, DenseMatrix> part) {
    long bytes = part.apply(layers.getFirst()).bytes();
    DeviceMemory memory = allocate(layers.size() * bytes);
    for (int i = 0; i < layers.size(); i++) {
      memory.upload(stream, i * bytes, part.apply(layers.get(i)).data(), bytes);
    }
    stream.synchronize();
    return memory;
  }

  private DeviceMemory allocate(long bytes) {
    DeviceMemory memory = context.allocate(bytes);
    owned.add(memory);
    return memory;
  }

  /** Returns the channels of a token's values. */
  int width() {
    return layers.getFirst().width();
  }

  int hidden() {
    return layers.getFirst().hidden();
  }

  /** Returns the bits of a token. */
  int bits() {
    return layers.getFirst().bits();
  }

  long channelScalesAddress() {
    return channelScales.address();
  }

  long gainAddress() {
    return gain.address();
  }

  long shiftAddress() {
    return shift.address();
  }

  long innerAddress() {
    return inner.address();
  }

  long innerBiasAddress() {
    return innerBias.address();
  }

  long outerAddress() {
    return outer.address();
  }

  long outerBiasAddress() {
    return outerBias.address();
  }

  long codebookAddress() {
    return codebook.address();
  }

  @Override
  public void close() {
    Resources.closeAll(owned);
  }
}
