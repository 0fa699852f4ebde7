package dev.kvasir.cuda.formats.commvq;

import dev.kvasir.codec.commvq.CommvqProfile;
import dev.kvasir.codec.commvq.CommvqShape;
import dev.kvasir.codec.commvq.ModelCodebooks;
import dev.kvasir.codec.commvq.ValueEncoder;
import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.model.LayerRange;
import dev.kvasir.page.StageCodes;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

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

  /** Returns the codebooks of some layers, which are uploaded on their own. */
  CommvqCodebooks ofLayers(LayerRange range) {
    int[] layers = IntStream.range(range.first(), range.end()).toArray();
    List<ValueEncoder> encoders = codebooks.encoders();
    ModelCodebooks own =
        new ModelCodebooks(
            codebooks.layers().subList(range.first(), range.end()),
            codebooks.rows().subList(range.first(), range.end()),
            encoders.isEmpty() ? encoders : encoders.subList(range.first(), range.end()),
            codebooks.rotations().ofLayers(layers),
            codebooks.keyDim());
    return new CommvqCodebooks(own, firstPosition, positions, beam);
  }

  /** Returns the KV heads whose values share codes. */
  int valueHeads() {
    return codebooks.layers().getFirst().valueHeads();
  }

  /** Returns why device pages of a bit width cannot have these codebooks; empty if they can. */
  Optional<String> unsupported(int bits) {
    if (!codebooks.encoders().isEmpty()) {
      return NetworkLayout.unsupported(codebooks.encoders().getFirst(), bits);
    }
    CommvqShape shape = codebooks.layers().getFirst().shape();
    int stages = CommvqProfile.stages(bits, shape.keyDim());
    StageCodes keys = new StageCodes(stages);
    StageCodes values = new StageCodes(stages * shape.valueHeads());
    if (!shape.keys().equals(keys) || !shape.values().equals(values)) {
      return Optional.of(
          "has codebooks for %s; on a device expected %d stages of 64 rows for each head"
              .formatted(shape, stages));
    }
    if (values.sets() > CodebookTableLayout.MAX_SETS) {
      return Optional.of(
          "has values with %d row sets; on a device expected at most %d"
              .formatted(values.sets(), CodebookTableLayout.MAX_SETS));
    }
    return Optional.empty();
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
