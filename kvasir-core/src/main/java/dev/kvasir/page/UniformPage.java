package dev.kvasir.page;

import dev.kvasir.memory.CountedArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Uniform asymmetric codes, {@code value = scale * code + zero}: keys with a scale for each channel
 * and group of tokens, values with one for each token and group of channels.
 *
 * <pre>
 * KV head | key codes    PlaneLayout(128 lanes = tokens, headDim entries, keyBits)
 *         | key scales   (128 / keyGroup, headDim)     f16
 *         | key zeros    (128 / keyGroup, headDim)     f16
 *         | value codes  PlaneLayout(lanes = channels rounded up to 16, 128 entries, valueBits)
 *         | value scales (ceil(headDim / valueGroup), 128)  f16
 *         | value zeros  (ceil(headDim / valueGroup), 128)  f16
 * </pre>
 *
 * A zero is rounded down and a scale up to the next half, so that every value lies within half a
 * step of its code, and a constant group has scale zero only if it truly is constant.
 */
public final class UniformPage implements Page {
  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final ThreadLocal<byte[]> CODES = ThreadLocal.withInitial(() -> new byte[0]);

  private final UniformShape shape;
  private final CountedArena arena = new CountedArena();
  private final MemorySegment bytes;

  /**
   * Packs a layer's vectors.
   *
   * @param keys (kvHeads, 128, headDim)
   * @param values (kvHeads, 128, headDim)
   */
  public UniformPage(UniformShape shape, float[] keys, float[] values) {
    this.shape = shape;
    try {
      this.bytes = arena.allocate(shape.bytes());
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
    int headValues = TOKENS * shape.headDim();
    for (int head = 0; head < shape.kvHeads(); head++) {
      packKeys(head, keys, head * headValues);
      packValues(head, values, head * headValues);
    }
  }

  private void packKeys(int head, float[] keys, int at) {
    PlaneLayout layout = shape.keyLayout();
    byte[] codes = new byte[layout.entries() * layout.lanes()];
    long scales = shape.keyScalesOffset(head);
    long zeros = scales + shape.keyScaleBytes();
    for (int first = 0; first < TOKENS; first += shape.keyGroup()) {
      for (int channel = 0; channel < shape.headDim(); channel++) {
        int place = first / shape.keyGroup() * shape.headDim() + channel;
        int from = at + first * shape.headDim() + channel;
        // (entries = channels, lanes = tokens)
        int to = channel * TOKENS + first;
        packGroup(
            keys,
            from,
            shape.headDim(),
            shape.keyGroup(),
            shape.keyBits(),
            codes,
            to,
            1,
            scales + 2L * place,
            zeros + 2L * place);
      }
    }
    layout.pack(codes, bytes, shape.keyCodesOffset(head));
  }

  private void packValues(int head, float[] values, int at) {
    PlaneLayout layout = shape.valueLayout();
    byte[] codes = new byte[layout.entries() * layout.lanes()];
    long scales = shape.valueScalesOffset(head);
    long zeros = scales + shape.valueScaleBytes();
    for (int token = 0; token < TOKENS; token++) {
      for (int first = 0; first < shape.headDim(); first += shape.valueGroup()) {
        int count = Math.min(shape.valueGroup(), shape.headDim() - first);
        int place = first / shape.valueGroup() * TOKENS + token;
        int from = at + token * shape.headDim() + first;
        // (entries = tokens, lanes = channels)
        int to = token * layout.lanes() + first;
        packGroup(
            values,
            from,
            1,
            count,
            shape.valueBits(),
            codes,
            to,
            1,
            scales + 2L * place,
            zeros + 2L * place);
      }
    }
    layout.pack(codes, bytes, shape.valueCodesOffset(head));
  }

  private void packGroup(
      float[] source,
      int from,
      int stride,
      int count,
      int bits,
      byte[] codes,
      int to,
      int codeStride,
      long scaleAt,
      long zeroAt) {
    float least = Float.POSITIVE_INFINITY;
    float most = Float.NEGATIVE_INFINITY;
    for (int i = 0; i < count; i++) {
      least = Math.min(least, source[from + i * stride]);
      most = Math.max(most, source[from + i * stride]);
    }
    int highest = (1 << bits) - 1;
    short zeroBits = HalfRounding.floor(least);
    float zero = Float.float16ToFloat(zeroBits);
    short scaleBits = HalfRounding.ceil((most - zero) / highest);
    float scale = Float.float16ToFloat(scaleBits);
    bytes.set(HALF, scaleAt, scaleBits);
    bytes.set(HALF, zeroAt, zeroBits);
    if (scale == 0) {
      return; // constant: every code stays zero
    }
    for (int i = 0; i < count; i++) {
      int code = Math.round((source[from + i * stride] - zero) / scale);
      codes[to + i * codeStride] = (byte) Math.min(code, highest);
    }
  }

  @Override
  public void expandKeys(int kvHead, int tokens, float[] out) {
    byte[] codes = unpack(shape.keyLayout(), shape.keyCodesOffset(kvHead));
    long scales = shape.keyScalesOffset(kvHead);
    long zeros = scales + shape.keyScaleBytes();
    int headDim = shape.headDim();
    for (int channel = 0; channel < headDim; channel++) {
      for (int first = 0; first < tokens; first += shape.keyGroup()) {
        long place = 2L * (first / shape.keyGroup() * headDim + channel);
        float scale = half(scales + place);
        float zero = half(zeros + place);
        int end = Math.min(first + shape.keyGroup(), tokens);
        for (int token = first; token < end; token++) {
          int code = codes[channel * TOKENS + token] & 0xFF;
          out[token * headDim + channel] = Math.fma(scale, code, zero);
        }
      }
    }
  }

  @Override
  public void expandValues(int kvHead, int tokens, float[] out) {
    PlaneLayout layout = shape.valueLayout();
    byte[] codes = unpack(layout, shape.valueCodesOffset(kvHead));
    long scales = shape.valueScalesOffset(kvHead);
    long zeros = scales + shape.valueScaleBytes();
    int headDim = shape.headDim();
    for (int token = 0; token < tokens; token++) {
      for (int first = 0; first < headDim; first += shape.valueGroup()) {
        long place = 2L * (first / shape.valueGroup() * TOKENS + token);
        float scale = half(scales + place);
        float zero = half(zeros + place);
        int end = Math.min(first + shape.valueGroup(), headDim);
        for (int channel = first; channel < end; channel++) {
          int code = codes[token * layout.lanes() + channel] & 0xFF;
          out[token * headDim + channel] = Math.fma(scale, code, zero);
        }
      }
    }
  }

  private byte[] unpack(PlaneLayout layout, long offset) {
    int count = layout.entries() * layout.lanes();
    byte[] codes = CODES.get();
    if (codes.length < count) {
      codes = new byte[count];
      CODES.set(codes);
    }
    layout.unpack(bytes, offset, codes);
    return codes;
  }

  private float half(long offset) {
    return Float.float16ToFloat(bytes.get(HALF, offset));
  }

  public UniformShape shape() {
    return shape;
  }

  public MemorySegment bytes() {
    return bytes;
  }

  @Override
  public long codeBytes() {
    return shape.codeBytes();
  }

  @Override
  public long scaleBytes() {
    return shape.bytes() - shape.codeBytes();
  }

  @Override
  public void close() {
    arena.close();
  }
}
