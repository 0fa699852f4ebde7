package dev.kvasir.format;

import java.nio.charset.StandardCharsets;

/** Builds npy files by hand, so that they can be invalid in any way. */
final class NpyBytes {
  private NpyBytes() {}

  /** Returns a file of the given version with exactly this header. */
  static byte[] file(int major, String header, byte... data) {
    byte[] text = header.getBytes(major < 3 ? StandardCharsets.ISO_8859_1 : StandardCharsets.UTF_8);
    LittleEndianBytes file = new LittleEndianBytes().raw(NpyHeader.MAGIC).int8(major).int8(0);
    if (major == 1) {
      file.int16(text.length);
    } else {
      file.int32(text.length);
    }
    return file.raw(text).raw(data).toArray();
  }

  static String header(String descr, String fortranOrder, String shape) {
    return "{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n"
        .formatted(descr, fortranOrder, shape);
  }

  /** Returns floats of this shape in version 1.0. */
  static byte[] floats(String shape, float... values) {
    return file(1, header("'<f4'", "False", shape), LittleEndianBytes.ofFloats(values));
  }
}
