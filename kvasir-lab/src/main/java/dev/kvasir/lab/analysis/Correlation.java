package dev.kvasir.lab.analysis;

/** Pearson's correlation coefficient. */
public final class Correlation {
  private Correlation() {}

  public static double of(double[] x, double[] y) {
    double meanOfX = 0;
    double meanOfY = 0;
    for (int i = 0; i < x.length; i++) {
      meanOfX += x[i] / x.length;
      meanOfY += y[i] / y.length;
    }
    double both = 0;
    double ofX = 0;
    double ofY = 0;
    for (int i = 0; i < x.length; i++) {
      both += (x[i] - meanOfX) * (y[i] - meanOfY);
      ofX += (x[i] - meanOfX) * (x[i] - meanOfX);
      ofY += (y[i] - meanOfY) * (y[i] - meanOfY);
    }
    return both / Math.sqrt(ofX * ofY);
  }
}
