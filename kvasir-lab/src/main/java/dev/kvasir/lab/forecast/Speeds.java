package dev.kvasir.lab.forecast;

import java.util.EnumMap;
import java.util.Map;

/**
 * How fast a machine is.
 *
 * @param threads that work together
 * @param perSecond operations of all threads together
 */
public record Speeds(int threads, Map<ComputeKind, Double> perSecond) {
  /**
   * As somebody says.
   *
   * @param reading operations a second of the engine; other kinds of arithmetic are slower
   */
  public static Speeds stated(int threads, double reading) {
    Map<ComputeKind, Double> all = new EnumMap<>(ComputeKind.class);
    for (ComputeKind kind : ComputeKind.values()) {
      all.put(kind, reading * kind.relativeSpeed());
    }
    return new Speeds(threads, all);
  }

  public double of(ComputeKind kind) {
    return perSecond.get(kind);
  }
}
