package dev.kvasir.kernel;

/**
 * How far the pairs of a {@link RopeTable} turn to one position. The arrays are shared, and not to
 * be changed.
 *
 * @param cosines (pairs)
 * @param sines (pairs)
 */
public record RopeAngles(float[] cosines, float[] sines) {}
