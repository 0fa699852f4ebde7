package dev.kvasir.lab.allocate;

import dev.kvasir.codec.pmkvq.KeyScaleAxis;
import java.io.Serializable;
import java.util.List;

/**
 * Settings of a sensitivity measurement.
 *
 * @param widths bits of a code, ascending
 * @param firstTokens leading tokens of a text that do not count, because the cache never quantizes
 *     them; the method keeps 1
 * @param keyScales axis of key scales
 */
public record SensitivitySettings(List<Integer> widths, int firstTokens, KeyScaleAxis keyScales)
    implements Serializable {
  public SensitivitySettings {
    widths = List.copyOf(widths);
  }
}
