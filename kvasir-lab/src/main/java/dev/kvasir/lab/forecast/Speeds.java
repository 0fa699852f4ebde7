package dev.kvasir.lab.forecast;

import java.util.EnumMap;
import java.util.Map;

/**
 * How fast a machine is.
 *
 * @param threads that work together
 * @param perSecond operations of all threads together
 */
public record Speeds(int threads, Map<Effort, Double> perSecond) {
  /**
   * As somebody says.
   *
   * @param reading operations a second of the engine; other kinds of arithmetic are slower
   */
  public static Speeds stated(int threads, double reading) {
    Map<Effort, Double> all = new EnumMap<>(Effort.class);
    for (Effort effort : Effort.values()) {
      all.put(effort, reading * effort.ofReading());
    }
    return new Speeds(threads, all);
  }

  public double of(Effort effort) {
    return perSecond.get(effort);
  }
}
