package dev.kvasir.format;

import dev.kvasir.error.InvalidInputException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

/**
 * The header of an npy file.
 *
 * <pre>
 * 93 'N' 'U' 'M' 'P' 'Y' | major | minor | length: u16 in version 1.0, u32 in 2.0 and 3.0
 * {'descr': '&lt;f4', 'fortran_order': False, 'shape': (8, 300, 64), }    spaces, \n | data
 * </pre>
 *
 * @param shape outermost dimension first
 * @param dataAt offset of the values
 */
record NpyHeader(long[] shape, long dataAt) {
  static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};

  /** The limit of version 1.0; the header of a float array takes 118 bytes. */
  private static final int MAX_BYTES = 0xFFFF;

  private static final int ZIP = 0x4B50; // "PK"

  static NpyHeader read(String fileName, MemorySegment bytes) {
    ByteCursor cursor = new ByteCursor(fileName, bytes, bytes.byteSize());
    refuseOtherFormats(cursor, bytes);
    int major = version(cursor);
    long length =
        major == 1
            ? Short.toUnsignedInt(cursor.int16("the header length"))
            : Integer.toUnsignedLong(cursor.int32("the header length"));
    long max = Math.min(cursor.remaining(), MAX_BYTES);
    if (length > max) {
      throw cursor.malformed("the header length is %d; expected at most %d".formatted(length, max));
    }
    long at = cursor.position();
    Charset charset = major < 3 ? StandardCharsets.ISO_8859_1 : StandardCharsets.UTF_8;
    byte[] text = bytes.asSlice(at, length).toArray(ValueLayout.JAVA_BYTE);
    NpyDictionary dictionary = NpyDictionary.parse(fileName, new String(text, charset));
    refuseOtherLayouts(fileName, dictionary);
    return new NpyHeader(dictionary.shape(), at + length);
  }

  private static void refuseOtherFormats(ByteCursor cursor, MemorySegment bytes) {
    if (bytes.byteSize() >= 2 && bytes.get(BlockReader.SHORT, 0) == ZIP) {
      throw cursor.malformed(
          "is a zip archive, as .npz and .pt files are; expected one array as numpy.save writes it");
    }
    for (byte expected : MAGIC) {
      if (cursor.int8("the magic number") != expected) {
        throw cursor.malformed(
            "does not begin with 93 'NUMPY'; expected an array as numpy.save writes it");
      }
    }
  }

  private static int version(ByteCursor cursor) {
    int major = Byte.toUnsignedInt(cursor.int8("the version"));
    int minor = Byte.toUnsignedInt(cursor.int8("the version"));
    if (major < 1 || major > 3 || minor != 0) {
      throw cursor.malformed(
          "is npy version %d.%d; supported are 1.0, 2.0, 3.0".formatted(major, minor));
    }
    return major;
  }

  private static void refuseOtherLayouts(String fileName, NpyDictionary dictionary) {
    if (!dictionary.descr().equals("'<f4'")) {
      throw new InvalidInputException(
          "%s: its dtype is %s; expected '<f4', which array.astype('<f4') makes of it"
              .formatted(fileName, Excerpt.of(dictionary.descr())));
    }
    if (dictionary.fortranOrder()) {
      throw new InvalidInputException(
          fileName
              + ": fortran_order is True; expected C order, which numpy.ascontiguousarray makes");
    }
  }
}
