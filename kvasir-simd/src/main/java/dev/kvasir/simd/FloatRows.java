package dev.kvasir.simd;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/** Work on one row: norms, exponentials, activations. */
final class FloatRows {
  static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
  static final int LANES = SPECIES.length();

  private static final float LOG2_E = 1.4426950409f;

  /** ln 2 in two floats, the first with few bits so that {@code n * LN2_HIGH} is exact. */
  private static final float LN2_HIGH = 0.693359375f;

  private static final float LN2_LOW = -2.12194440e-4f;

  /** 1.5 * 2^23: added to a float, it leaves the nearest integer in the low bits. */
  private static final float ROUNDER = 12582912f;

  /** Between these the result is a normal float. */
  private static final float LEAST_EXPONENT = -87f;

  private static final float MOST_EXPONENT = 88f;

  private FloatRows() {}

  static float maximum(float[] x, int at, int count) {
    FloatVector largest = FloatVector.broadcast(SPECIES, Float.NEGATIVE_INFINITY);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      largest = largest.max(FloatVector.fromArray(SPECIES, x, at + i));
    }
    float result = largest.reduceLanes(VectorOperators.MAX);
    for (; i < count; i++) {
      result = Math.max(result, x[at + i]);
    }
    return result;
  }

  /** {@code x = e^(x - shift)}, which is never above zero in a softmax; answers the sum. */
  static float exponentiate(float[] x, int at, int count, float shift) {
    FloatVector sum = FloatVector.zero(SPECIES);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      FloatVector v = FloatVector.fromArray(SPECIES, x, at + i).sub(shift).max(LEAST_EXPONENT);
      FloatVector e = exponential(v);
      e.intoArray(x, at + i);
      sum = sum.add(e);
    }
    float total = sum.reduceLanes(VectorOperators.ADD);
    for (; i < count; i++) {
      x[at + i] = (float) Math.exp(Math.max(x[at + i] - shift, LEAST_EXPONENT));
      total += x[at + i];
    }
    return total;
  }

  static void rmsNorm(
      float[] x, int at, float[] weight, float epsilon, float[] out, int outAt, int count) {
    FloatVector squares = FloatVector.zero(SPECIES);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      FloatVector v = FloatVector.fromArray(SPECIES, x, at + i);
      squares = v.fma(v, squares);
    }
    float total = squares.reduceLanes(VectorOperators.ADD);
    for (; i < count; i++) {
      total += x[at + i] * x[at + i];
    }
    float inverse = (float) (1 / Math.sqrt(total / count + epsilon));
    for (i = 0; i <= count - LANES; i += LANES) {
      FloatVector.fromArray(SPECIES, x, at + i)
          .mul(inverse)
          .mul(FloatVector.fromArray(SPECIES, weight, i))
          .intoArray(out, outAt + i);
    }
    for (; i < count; i++) {
      out[outAt + i] = x[at + i] * inverse * weight[i];
    }
  }

  static void gatedSilu(float[] gate, float[] up, int at, int count) {
    int i = at;
    int end = at + count;
    for (; i <= end - LANES; i += LANES) {
      FloatVector g = FloatVector.fromArray(SPECIES, gate, i);
      FloatVector v = g.neg().max(LEAST_EXPONENT).min(MOST_EXPONENT);
      FloatVector e = exponential(v);
      g.div(e.add(1f)).mul(FloatVector.fromArray(SPECIES, up, i)).intoArray(gate, i);
    }
    for (; i < end; i++) {
      gate[i] = gate[i] / (1 + (float) Math.exp(-gate[i])) * up[i];
    }
  }

  /**
   * e^x to about 2 units in the last place. x = n ln 2 + r with |r| at most half of ln 2; a
   * polynomial gives e^r, and n goes into the exponent's bits. The caller keeps x between {@link
   * #LEAST_EXPONENT} and {@link #MOST_EXPONENT}. Coefficients: Cephes, expf.
   */
  private static FloatVector exponential(FloatVector v) {
    FloatVector lifted =
        v.fma(FloatVector.broadcast(SPECIES, LOG2_E), FloatVector.broadcast(SPECIES, ROUNDER));
    FloatVector n = lifted.sub(ROUNDER);
    FloatVector r = n.fma(FloatVector.broadcast(SPECIES, -LN2_HIGH), v);
    r = n.fma(FloatVector.broadcast(SPECIES, -LN2_LOW), r);
    FloatVector p = FloatVector.broadcast(SPECIES, 1.9875691500e-4f);
    p = p.fma(r, FloatVector.broadcast(SPECIES, 1.3981999507e-3f));
    p = p.fma(r, FloatVector.broadcast(SPECIES, 8.3334519073e-3f));
    p = p.fma(r, FloatVector.broadcast(SPECIES, 4.1665795894e-2f));
    p = p.fma(r, FloatVector.broadcast(SPECIES, 1.6666665459e-1f));
    p = p.fma(r, FloatVector.broadcast(SPECIES, 5.0000001201e-1f));
    p = p.fma(r.mul(r), r).add(1f);
    return p.reinterpretAsInts()
        .add(lifted.reinterpretAsInts().lanewise(VectorOperators.LSHL, 23))
        .reinterpretAsFloats();
  }
}
