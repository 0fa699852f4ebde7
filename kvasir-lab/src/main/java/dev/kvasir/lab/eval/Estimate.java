package dev.kvasir.lab.eval;

import java.io.Serializable;

/**
 * A value with its 95% confidence interval.
 *
 * @param low {@code NaN} if there are too few samples
 * @param high like low
 */
public record Estimate(double value, double low, double high) implements Serializable {}
