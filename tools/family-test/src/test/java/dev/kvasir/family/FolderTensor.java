package dev.kvasir.family;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A tensor of a safetensors file. */
record FolderTensor(String dtype, byte[] bytes, long... shape) {
  static FolderTensor f32(TensorValues values) {
    ByteBuffer out = littleEndian(Float.BYTES * values.floats().length);
    for (float value : values.floats()) {
      out.putFloat(value);
    }
    return new FolderTensor("F32", out.array(), values.longShape());
  }

  /** Encodes values that bf16 represents exactly. */
  static FolderTensor bf16(TensorValues values) {
    ByteBuffer out = littleEndian(Short.BYTES * values.floats().length);
    for (float value : values.floats()) {
      int bits = Float.floatToRawIntBits(value);
      if ((bits & 0xffff) != 0) {
        throw new IllegalArgumentException(value + " is no bf16");
      }
      out.putShort((short) (bits >>> 16));
    }
    return new FolderTensor("BF16", out.array(), values.longShape());
  }

  private static ByteBuffer littleEndian(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
