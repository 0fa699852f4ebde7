package dev.kvasir.kernel;

/**
 * The rotation angles of the pairs of a {@link RopeTable} for one position. The arrays are shared
 * and must not be changed.
 *
 * @param cosines (pairs)
 * @param sines (pairs)
 */
public record RopeAngles(float[] cosines, float[] sines) {}
