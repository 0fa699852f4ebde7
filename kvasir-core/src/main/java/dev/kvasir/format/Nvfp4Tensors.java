package dev.kvasir.format;

import dev.kvasir.error.InvalidInputException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * The NVFP4 matrices of a folder, as ModelOpt or compressed-tensors store them. They are converted
 * to blocks of {@link GgmlType#NVFP4}, which has another nibble order, and to the scales of
 * matrices that GGUF files have:
 *
 * <pre>
 *   NAME.weight or NAME.weight_packed         (rows, columns / 2)    bits 3..0 = value 2j   bits 7..4 = value 2j + 1
 *   NAME.weight_scale                         (rows, columns / 16)   floats of 8 bits
 *   NAME.weight_scale_2, or 1 / NAME.weight_global_scale
 * </pre>
 */
final class Nvfp4Tensors {
  private static final String WEIGHT = ".weight";
  private static final String SCALE = ".scale";
  private static final int GROUP = 16;
  private static final int GROUPS = 4; // of a block
  private static final int BLOCK = GROUP * GROUPS;

  private final String folder;
  private final Function<String, Optional<ByteTensor>> bytes;
  private final Function<String, Optional<Tensor>> floats;
  private Tensor last; // loading asks for the same one several times

  /**
   * @param folder its name, for messages
   * @param bytes finds a tensor of bytes
   * @param floats finds a tensor of floats
   */
  Nvfp4Tensors(
      String folder,
      Function<String, Optional<ByteTensor>> bytes,
      Function<String, Optional<Tensor>> floats) {
    this.folder = folder;
    this.bytes = bytes;
    this.floats = floats;
  }

  /** The two tensors of a matrix. */
  private record Pair(String codesName, ByteTensor codes, String scalesName, ByteTensor scales) {}

  /** Returns a matrix or its scale by the name of a GGUF file's; empty if it is not NVFP4. */
  synchronized Optional<Tensor> find(String name) {
    if (last != null && last.name().equals(name)) {
      return Optional.of(last);
    }
    if (name.endsWith(WEIGHT)) {
      Optional<Tensor> found = pair(name).map(pair -> matrix(name, pair));
      found.ifPresent(matrix -> last = matrix);
      return found;
    }
    if (name.endsWith(SCALE)) {
      String weight = name.substring(0, name.length() - SCALE.length()) + WEIGHT;
      return pair(weight).map(_ -> scale(name, weight));
    }
    return Optional.empty();
  }

  /** Returns the bytes of a matrix, for hashes, by the name of its scales; empty for others. */
  Optional<List<MemorySegment>> ofScales(String name) {
    return name.endsWith("_scale")
        ? pair(name.substring(0, name.length() - "_scale".length()))
            .map(pair -> List.of(pair.codes().data(), pair.scales().data()))
        : Optional.empty();
  }

  private Optional<Pair> pair(String weight) {
    String packed = weight + "_packed";
    String scales = weight + "_scale";
    Optional<ByteTensor> plain = ofType(weight, "U8");
    Optional<ByteTensor> codes = plain.or(() -> ofType(packed, "U8"));
    return codes.flatMap(
        found ->
            ofType(scales, "F8_E4M3")
                .map(
                    ofCodes ->
                        new Pair(plain.isPresent() ? weight : packed, found, scales, ofCodes)));
  }

  private Optional<ByteTensor> ofType(String name, String dtype) {
    return bytes.apply(name).filter(tensor -> tensor.dtype().equals(dtype));
  }

  private Tensor matrix(String name, Pair pair) {
    long[] codes = pair.codes().shape();
    long[] scales = pair.scales().shape();
    if (codes.length != 2
        || codes[1] % (BLOCK / 2) != 0
        || !Arrays.equals(scales, new long[] {codes[0], codes[1] * 2 / GROUP})) {
      throw new InvalidInputException(
          "%s: tensors '%s' and '%s' have shapes %s and %s; expected rows x columns / 2 and rows x"
                  .formatted(
                      folder,
                      Excerpt.of(pair.codesName()),
                      Excerpt.of(pair.scalesName()),
                      Tensor.text(codes),
                      Tensor.text(scales))
              + " columns / 16, with columns a multiple of 64");
    }
    long[] shape = {codes[0], 2 * codes[1]};
    long size = Tensor.bytes(folder + ": tensor '" + Excerpt.of(name) + "'", GgmlType.NVFP4, shape);
    if (size > Integer.MAX_VALUE - 8) {
      throw new InvalidInputException(
          "%s: tensor '%s' takes %d bytes; expected less than 2 GiB"
              .formatted(folder, Excerpt.of(name), size));
    }
    return new Tensor(
        name, GgmlType.NVFP4, shape, MemorySegment.ofArray(blocks(pair, new byte[(int) size])));
  }

  private byte[] blocks(Pair pair, byte[] out) {
    MemorySegment codes = pair.codes().data();
    MemorySegment scales = pair.scales().data();
    int blockBytes = GgmlType.NVFP4.blockBytes();
    for (int block = 0; block < out.length / blockBytes; block++) {
      int at = block * blockBytes;
      for (int group = 0; group < GROUPS; group++) {
        byte scale = scales.get(ValueLayout.JAVA_BYTE, (long) block * GROUPS + group);
        if (scale < 0) {
          throw new InvalidInputException(
              "%s: tensor '%s' has a negative scale; expected at least 0"
                  .formatted(folder, Excerpt.of(pair.scalesName())));
        }
        out[at + group] = scale;
        long from = ((long) block * GROUPS + group) * (GROUP / 2);
        reorder(codes, from, out, at + GROUPS + group * (GROUP / 2));
      }
    }
    return out;
  }

  private static void reorder(MemorySegment codes, long from, byte[] out, int at) {
    for (int j = 0; j < GROUP / 2; j++) {
      out[at + j] = (byte) (nibble(codes, from, j) | nibble(codes, from, j + GROUP / 2) << 4);
    }
  }

  private static int nibble(MemorySegment codes, long from, int value) {
    return BlockReader.unsignedByte(codes, from + value / 2) >>> 4 * (value % 2) & 15;
  }

  private Tensor scale(String name, String weight) {
    Optional<Tensor> factor = floats.apply(weight + "_scale_2");
    Tensor found =
        factor
            .or(() -> floats.apply(weight + "_global_scale"))
            .orElseThrow(
                () ->
                    new InvalidInputException(
                        "%s: tensor '%s' has neither a %s_scale_2 nor a %s_global_scale"
                            .formatted(folder, Excerpt.of(weight), WEIGHT, WEIGHT)));
    if (found.values() != 1) {
      throw new InvalidInputException(
          "%s: tensor '%s' has shape %s; expected one value"
              .formatted(folder, Excerpt.of(found.name()), found.shapeText()));
    }
    float value = found.toFloats()[0];
    float scale = factor.isPresent() ? value : 1 / value;
    MemorySegment data = MemorySegment.ofArray(new byte[Float.BYTES]);
    data.set(BlockReader.FLOAT, 0, scale);
    return new Tensor(name, GgmlType.F32, new long[] {1}, data);
  }
}
