package dev.kvasir.kernel;

/** A worker's room for the tile of weights that it multiplies; what it holds is nobody's. */
public final class TileRoom {
  private byte[] bytes = {};
  private byte[] codes = {};
  private float[] weights = {};
  private float[] sums = {};
  private short[] spread = {};
  private float[] activations = {};

  /** The tile as it lies in memory. */
  public byte[] bytes(int count) {
    if (bytes.length < count) {
      bytes = new byte[count];
    }
    return bytes;
  }

  /** The codes of one of its rows. */
  byte[] codes(int columns) {
    if (codes.length < columns) {
      codes = new byte[columns];
    }
    return codes;
  }

  /** Its codes or its weights as floats. */
  public float[] weights(int count) {
    if (weights.length < count) {
      weights = new float[count];
    }
    return weights;
  }

  /** Sums of rows of activations with the tile. */
  public float[] sums(int count) {
    if (sums.length < count) {
      sums = new float[count];
    }
    return sums;
  }

  /** Multipliers of rows of activations, spread over lanes as the tile's products read them. */
  public short[] spread(int count) {
    if (spread.length < count) {
      spread = new short[count];
    }
    return spread;
  }

  /** Rows of activations that lie elsewhere among others. */
  float[] activations(int count) {
    if (activations.length < count) {
      activations = new float[count];
    }
    return activations;
  }
}
