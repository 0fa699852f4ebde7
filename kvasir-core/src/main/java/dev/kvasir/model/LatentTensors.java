package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.Tensor;
import dev.kvasir.format.TensorSource;
import dev.kvasir.model.TensorNames.Part;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Matrices that project each query head to the latent and back, for all file formats. A file has
 * either two tensors with a matrix per head, or one that computes keys and values of all heads from
 * a latent, as in training. The latter stores the first matrix transposed:
 *
 * <pre>
 * (heads, nonRotary + output, rank): nonRotary rows of a head, transposed, project to the latent;
 *                                    its output rows project back
 * </pre>
 *
 * Floats keep their type when transposed. Quantized weights cannot, since their groups run along
 * rows. They become half-precision floats, 16 bits per weight where Q8_0 takes 9 in memory, with an
 * error of at most 1/2048 of a weight.
 *
 * @param toLatent by query head // (rank, nonRotary)
 * @param fromLatent by query head // (output, rank)
 */
record LatentTensors(List<Tensor> toLatent, List<Tensor> fromLatent) {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** Returns whether a file has one tensor for both matrices. */
  static boolean isFused(TensorSource file, TensorNames names, int layer) {
    return names == TensorNames.HUGGING_FACE
        || file.find(names.weight(layer, Part.KEY_UP)).isEmpty()
            && file.find(names.weight(layer, Part.KEY_VALUE_UP)).isPresent();
  }

  /** Returns the tensors of a layer with their shapes. */
  static Map<String, long[]> shapes(
      LatentConfig latent, long heads, TensorSource file, TensorNames names, int layer) {
    if (isFused(file, names, layer)) {
      long rows = heads * (latent.nonRotary() + (long) latent.output());
      return Map.of(names.weight(layer, Part.KEY_VALUE_UP), new long[] {rows, latent.rank()});
    }
    return Map.of(
        names.weight(layer, Part.KEY_UP),
        new long[] {heads, latent.rank(), latent.nonRotary()},
        names.weight(layer, Part.VALUE_UP),
        new long[] {heads, latent.output(), latent.rank()});
  }

  /**
   * @param memory memory for transposed matrices
   */
  static LatentTensors of(
      LatentConfig latent, int heads, TensorPlan plan, int layer, SegmentAllocator memory) {
    TensorNames names = plan.names();
    String both = names.weight(layer, Part.KEY_VALUE_UP);
    if (plan.requires(both)) {
      requireNoScale(plan, plan.require(both));
      return split(plan.fileName(), plan.require(both), latent, heads, memory);
    }
    return new LatentTensors(
        parts(plan.require(names.weight(layer, Part.KEY_UP)), heads, 0, latent.rank()),
        parts(plan.require(names.weight(layer, Part.VALUE_UP)), heads, 0, latent.output()));
  }

  private static void requireNoScale(TensorPlan plan, Tensor both) {
    if (both.type() == GgmlType.NVFP4
        && MatrixScales.nameFor(both).filter(plan::hasTensor).isPresent()) {
      throw new InvalidInputException(
          "%s: tensor '%s' is NVFP4 with a scale; expected another type for it"
              .formatted(plan.fileName(), both.name()));
    }
  }

  private static LatentTensors split(
      String fileName, Tensor both, LatentConfig latent, int heads, SegmentAllocator memory) {
    GgmlType type = transposedType(both);
    List<Tensor> transposed = new ArrayList<>();
    for (int head = 0; head < heads; head++) {
      MemorySegment data =
          memory.allocate(type.bytesFor((long) latent.rank() * latent.nonRotary()));
      transposed.add(
          new Tensor(both.name(), type, new long[] {latent.rank(), latent.nonRotary()}, data));
    }
    List<Tensor> plain = parts(both, heads, 0, latent.nonRotary());
    IntStream.range(0, heads)
        .parallel()
        .forEach(h -> transpose(fileName, plain.get(h), transposed.get(h)));
    return new LatentTensors(transposed, parts(both, heads, latent.nonRotary(), latent.output()));
  }

  private static GgmlType transposedType(Tensor tensor) {
    return tensor.type().isFloat() ? tensor.type() : GgmlType.F16;
  }

  /** Returns {@code count} rows of each head, from its row {@code first} on. */
  private static List<Tensor> parts(Tensor tensor, int heads, int first, int count) {
    long[] shape = tensor.shape();
    long columns = shape[shape.length - 1];
    long headValues = tensor.values() / heads;
    GgmlType type = tensor.type();
    List<Tensor> parts = new ArrayList<>();
    for (int head = 0; head < heads; head++) {
      long at = type.bytesFor(head * headValues + first * columns);
      MemorySegment data = tensor.data().asSlice(at, type.bytesFor(count * columns));
      parts.add(new Tensor(tensor.name(), type, new long[] {count, columns}, data));
    }
    return parts;
  }

  private static void transpose(String fileName, Tensor from, Tensor to) {
    int rows = (int) from.shape()[0];
    int columns = (int) from.shape()[1];
    float[] x = from.toFloats();
    if (!from.type().isFloat()) {
      requireHalves(fileName, from, x);
    }
    for (int column = 0; column < columns; column++) {
      for (int row = 0; row < rows; row++) {
        set(to, (long) column * rows + row, x[row * columns + column]);
      }
    }
  }

  private static void set(Tensor to, long index, float x) {
    switch (to.type()) {
      case F32 -> to.data().set(FLOAT, index * Float.BYTES, x);
      case BF16 ->
          to.data().set(SHORT, index * Short.BYTES, (short) (Float.floatToRawIntBits(x) >>> 16));
      default -> to.data().set(SHORT, index * Short.BYTES, Float.floatToFloat16(x));
    }
  }

  private static void requireHalves(String fileName, Tensor codes, float[] weights) {
    for (float weight : weights) {
      if (!Float.isFinite(Float.float16ToFloat(Float.floatToFloat16(weight)))) {
        throw new InvalidInputException(
            "%s: tensor '%s' has a weight of %s; expected at most 65504 for half precision"
                .formatted(fileName, codes.name(), weight));
      }
    }
  }

  /** Returns the loaded bytes of the matrices in one tensor for both. */
  static long transposedBytes(Tensor both, LatentConfig latent, int heads) {
    long transposed = transposedType(both).bytesFor((long) latent.rank() * latent.nonRotary());
    Tensor back = parts(both, heads, latent.nonRotary(), latent.output()).getFirst();
    return heads * (transposed + TensorPlan.matrixBytes(back, latent.output(), latent.rank()));
  }
}
