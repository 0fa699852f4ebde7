package dev.kvasir.lab.gradient;

/** The backward pass of {@code y = x / rms(x) * weight}. */
final class RmsNorms {
  private RmsNorms() {}

  /**
   * Adds the gradient of {@code x} to {@code dx}. With {@code r = 1 / rms(x)} and {@code g = dy *
   * weight}, it is {@code r * (g - x * r^2 * mean(g * x))}.
   */
  static void addBackward(
      float[] x,
      int at,
      float[] weight,
      float epsilon,
      float[] dy,
      int dyAt,
      float[] dx,
      int dxAt) {
    int count = weight.length;
    double squares = 0;
    double along = 0;
    for (int i = 0; i < count; i++) {
      squares += (double) x[at + i] * x[at + i];
      along += (double) dy[dyAt + i] * weight[i] * x[at + i];
    }
    double r = 1 / Math.sqrt(squares / count + epsilon);
    double share = r * r * along / count;
    for (int i = 0; i < count; i++) {
      dx[dxAt + i] += (float) (r * (dy[dyAt + i] * weight[i] - x[at + i] * share));
    }
  }
}
