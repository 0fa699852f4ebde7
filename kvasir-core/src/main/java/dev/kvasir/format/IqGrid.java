package dev.kvasir.format;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The codebooks of the IQ types: grids of points with 8 or 4 coordinates. They are part of the
 * format; files contain indices of points. The resource has each point as a 16-bit little-endian
 * number:
 *
 * <pre>
 *   bits 2i+1..2i = level of coordinate i, of three levels and 8 coordinates
 *   bits 3i+2..3i = level of coordinate i, of eight levels and 4 coordinates
 * </pre>
 *
 * <p>tools/type-goldens/grids.py generates it from ggml's tables.
 */
final class IqGrid {
  private static final String RESOURCE = "iq-grids.bin";
  private static final ByteBuffer NUMBERS = resource(); // the grids in this order

  static final IqGrid IQ2_XXS = next(256, 8, 25, 43);
  static final IqGrid IQ2_XS = next(512, 8, 25, 43);
  static final IqGrid IQ2_S = next(1024, 8, 25, 43);

  /** A grid of -1, 0, 1, stored here as 0, 1, 2. */
  static final IqGrid IQ1 = next(2048, 0, 1, 2);

  static final IqGrid IQ3_XXS = next(256, 4, 12, 20, 28, 36, 44, 52, 62);
  static final IqGrid IQ3_S = next(512, 1, 3, 5, 7, 9, 11, 13, 15);

  private final int coordinates;
  private final byte[] points; // (points, coordinates)

  private IqGrid(int coordinates, byte[] points) {
    this.coordinates = coordinates;
    this.points = points;
  }

  /** Returns the levels of a grid's coordinates with either sign. */
  static BlockLayout.Codes signed(int... levels) {
    byte[] both = new byte[16];
    for (int i = 0; i < levels.length; i++) {
      both[i] = (byte) levels[i];
      both[8 + i] = (byte) -levels[i];
    }
    return new BlockLayout.Codes.Levels(both);
  }

  private static IqGrid next(int count, int... levels) {
    int bits = levels.length == 3 ? 2 : 3;
    int coordinates = levels.length == 3 ? 8 : 4;
    byte[] points = new byte[count * coordinates];
    for (int at = 0; at < points.length; at += coordinates) {
      int number = NUMBERS.getChar();
      for (int i = 0; i < coordinates; i++) {
        points[at + i] = (byte) levels[number >>> bits * i & (1 << bits) - 1];
      }
    }
    return new IqGrid(coordinates, points);
  }

  private static ByteBuffer resource() {
    try (InputStream in = IqGrid.class.getResourceAsStream(RESOURCE)) {
      return ByteBuffer.wrap(in.readAllBytes()).order(ByteOrder.LITTLE_ENDIAN);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void copy(int index, byte[] codes, int at) {
    System.arraycopy(points, index * coordinates, codes, at, coordinates);
  }

  /** Negates those of eight codes whose bit is set; the lowest bit is for the first code. */
  static void negate(byte[] codes, int at, int signs) {
    for (int i = 0; i < 8; i++) {
      if ((signs >>> i & 1) != 0) {
        codes[at + i] = (byte) -codes[at + i];
      }
    }
  }

  /** Expands seven stored sign bits to eight, of which an even number is set. */
  static int evenSigns(int sevenBits) {
    return sevenBits | (Integer.bitCount(sevenBits) & 1) << 7;
  }
}
