package dev.kvasir.lab.forecast;

import java.util.EnumMap;
import java.util.Map;

/**
 * The speed of a machine.
 *
 * @param threads threads in parallel
 * @param perSecond operations per second of all threads together
 */
public record Speeds(int threads, Map<ComputeKind, Double> perSecond) {
  /**
   * Returns speeds derived from a stated one.
   *
   * @param reading operations per second of the engine; other kinds of computation are slower
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
