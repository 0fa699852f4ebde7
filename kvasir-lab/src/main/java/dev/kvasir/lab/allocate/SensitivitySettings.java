package dev.kvasir.lab.allocate;

import dev.kvasir.codec.pmkvq.KeyScaleAxis;
import java.io.Serializable;
import java.util.List;

/**
 * What sensitivities are measured of.
 *
 * @param widths bits of a code, ascending
 * @param firstTokens tokens at the beginning of a text that do not count, because the cache never
 *     codes them; the method keeps 1
 * @param keyScales what a scale of keys belongs to
 */
public record SensitivitySettings(List<Integer> widths, int firstTokens, KeyScaleAxis keyScales)
    implements Serializable {
  public SensitivitySettings {
    widths = List.copyOf(widths);
  }
}
