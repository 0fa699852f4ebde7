package dev.kvasir.simd;

import static jdk.incubator.vector.VectorOperators.ADD;
import static jdk.incubator.vector.VectorOperators.DIV;
import static jdk.incubator.vector.VectorOperators.FMA;
import static jdk.incubator.vector.VectorOperators.GT;
import static jdk.incubator.vector.VectorOperators.LSHL;
import static jdk.incubator.vector.VectorOperators.LT;
import static jdk.incubator.vector.VectorOperators.MAX;
import static jdk.incubator.vector.VectorOperators.MIN;
import static jdk.incubator.vector.VectorOperators.MUL;
import static jdk.incubator.vector.VectorOperators.NEG;
import static jdk.incubator.vector.VectorOperators.SUB;

import dev.kvasir.kernel.Exponential;
import dev.kvasir.kernel.Gelu;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/** Work on one row: norms, exponentials, activations. */
final class FloatRows {
  static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
  static final int LANES = SPECIES.length();

  private FloatRows() {}

  static float maximum(float[] x, int at, int count) {
    FloatVector largest = FloatVector.broadcast(SPECIES, Float.NEGATIVE_INFINITY);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      largest = FloatVector.fromArray(SPECIES, x, at + i).lanewise(MAX, largest);
    }
    float result = largest.reduceLanes(MAX);
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
      FloatVector v = FloatVector.fromArray(SPECIES, x, at + i).lanewise(SUB, all(shift));
      FloatVector e = exponential(v);
      e.intoArray(x, at + i);
      sum = e.lanewise(ADD, sum);
    }
    float[] sums = LaneSums.scratch();
    sum.intoArray(sums, 0);
    float total = LaneSums.sum(sums, 0);
    for (; i < count; i++) {
      x[at + i] = Exponential.of(x[at + i] - shift);
      total += x[at + i];
    }
    return total;
  }

  static void rmsNorm(
      float[] x, int at, float[] weight, float epsilon, float[] out, int outAt, int count) {
    float total = FloatProducts.dot(x, at, x, at, count, LaneSums.scratch());
    float inverse = (float) (1 / Math.sqrt(total / count + epsilon));
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      FloatVector.fromArray(SPECIES, x, at + i)
          .lanewise(MUL, all(inverse))
          .lanewise(MUL, FloatVector.fromArray(SPECIES, weight, i))
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
      FloatVector v = g.lanewise(NEG);
      FloatVector e = exponential(v);
      g.lanewise(DIV, e.lanewise(ADD, all(1)))
          .lanewise(MUL, FloatVector.fromArray(SPECIES, up, i))
          .intoArray(gate, i);
    }
    for (; i < end; i++) {
      gate[i] = gate[i] / (Exponential.of(-gate[i]) + 1) * up[i];
    }
  }

  static void gatedGelu(float[] gate, float[] up, int at, int count) {
    int i = at;
    int end = at + count;
    for (; i <= end - LANES; i += LANES) {
      FloatVector g = FloatVector.fromArray(SPECIES, gate, i);
      FloatVector curve = g.lanewise(MUL, g).lanewise(FMA, all(Gelu.CUBIC), all(Gelu.LINEAR));
      FloatVector e = exponential(g.lanewise(MUL, curve));
      g.lanewise(DIV, e.lanewise(ADD, all(1)))
          .lanewise(MUL, FloatVector.fromArray(SPECIES, up, i))
          .intoArray(gate, i);
    }
    for (; i < end; i++) {
      gate[i] = Gelu.of(gate[i]) * up[i];
    }
  }

  /** {@link Exponential#of} on every lane. */
  private static FloatVector exponential(FloatVector x) {
    FloatVector v = x.lanewise(MAX, all(Exponential.LEAST)).lanewise(MIN, all(Exponential.MOST));
    FloatVector lifted = v.lanewise(FMA, all(Exponential.LOG2_E), all(Exponential.ROUNDER));
    FloatVector n = lifted.lanewise(SUB, all(Exponential.ROUNDER));
    FloatVector r = n.lanewise(FMA, all(-Exponential.LN2_HIGH), v);
    r = n.lanewise(FMA, all(-Exponential.LN2_LOW), r);
    FloatVector p = all(Exponential.C6).lanewise(FMA, r, all(Exponential.C5));
    p = p.lanewise(FMA, r, all(Exponential.C4));
    p = p.lanewise(FMA, r, all(Exponential.C3));
    p = p.lanewise(FMA, r, all(Exponential.C2));
    p = p.lanewise(FMA, r, all(Exponential.C1));
    p = p.lanewise(FMA, r.lanewise(MUL, r), r).lanewise(ADD, all(1));
    return p.reinterpretAsInts()
        .lanewise(ADD, lifted.reinterpretAsInts().lanewise(LSHL, 23))
        .reinterpretAsFloats();
  }

  private static FloatVector all(float value) {
    return FloatVector.broadcast(SPECIES, value);
  }

  static void turn(
      float[] vectors, int at, int count, int pairs, float[] cosines, float[] sines, int anglesAt) {
    for (int row = at; row < at + count * 2 * pairs; row += 2 * pairs) {
      for (int i = 0; i < pairs; i += LANES) {
        FloatVector cos = FloatVector.fromArray(SPECIES, cosines, anglesAt + i);
        FloatVector sin = FloatVector.fromArray(SPECIES, sines, anglesAt + i);
        FloatVector x = FloatVector.fromArray(SPECIES, vectors, row + i);
        FloatVector y = FloatVector.fromArray(SPECIES, vectors, row + pairs + i);
        y.lanewise(NEG).lanewise(FMA, sin, x.lanewise(MUL, cos)).intoArray(vectors, row + i);
        x.lanewise(FMA, sin, y.lanewise(MUL, cos)).intoArray(vectors, row + pairs + i);
      }
    }
  }

  static void spans(
      float[] x, int at, float[] b, int bAt, int count, int depth, float[] least, float[] most) {
    int whole = SPECIES.loopBound(depth);
    for (int j = 0; j < count; j++) {
      int row = bAt + j * depth;
      FloatVector lows = FloatVector.broadcast(SPECIES, Float.POSITIVE_INFINITY);
      FloatVector highs = FloatVector.broadcast(SPECIES, Float.NEGATIVE_INFINITY);
      for (int i = 0; i < whole; i += LANES) {
        FloatVector left =
            FloatVector.fromArray(SPECIES, x, at + i)
                .lanewise(SUB, FloatVector.fromArray(SPECIES, b, row + i));
        lows = lows.blend(left, left.compare(LT, lows));
        highs = highs.blend(left, left.compare(GT, highs));
      }
      float low = lows.reduceLanes(MIN);
      float high = highs.reduceLanes(MAX);
      for (int i = whole; i < depth; i++) {
        float left = x[at + i] - b[row + i];
        low = left < low ? left : low;
        high = left > high ? left : high;
      }
      least[j] = low;
      most[j] = high;
    }
  }
}
