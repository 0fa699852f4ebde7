package dev.kvasir.lab.allocate;

import dev.kvasir.error.InvalidInputException;
import java.util.ArrayList;
import java.util.List;
import org.ojalgo.optimisation.Expression;
import org.ojalgo.optimisation.ExpressionsBasedModel;
import org.ojalgo.optimisation.Optimisation;
import org.ojalgo.optimisation.Variable;
import org.ojalgo.optimisation.integer.IntegerStrategy;
import org.ojalgo.type.context.NumberContext;

/**
 * A bit width for each layer, for keys and values alike.
 *
 * @param bits width by layer
 * @param sensitivity sum of sensitivities over layers at these widths
 */
public record LayerBitAllocation(List<Integer> bits, double sensitivity) {

  /**
   * Returns the widths with the smallest total sensitivity whose mean is within a budget (PM-KVQ,
   * equations 6 to 8). All layers have the same number of elements, and scales cost the same at any
   * width, so a budget of bytes is equivalent to one of code bits.
   *
   * @param meanBits maximum mean code bits per element over layers
   */
  public static LayerBitAllocation within(Sensitivities sensitivities, double meanBits) {
    int narrowest = sensitivities.widths().stream().min(Integer::compare).orElseThrow();
    if (!(meanBits >= narrowest)) {
      throw new InvalidInputException(
          "the budget is %s bits a number; expected at least %d, the narrowest codes"
              .formatted(meanBits, narrowest));
    }
    // A budget such as 2.6 bits of 5 layers must not lose its last bit to rounding.
    int totalBits = (int) Math.floor(Math.min(meanBits, 16) * sensitivities.layers() + 1e-6);
    return new Program(sensitivities, totalBits).solve();
  }

  /** An integer program with a binary variable for each layer and width. */
  private static final class Program {
    private final Sensitivities sensitivities;
    private final ExpressionsBasedModel model = new ExpressionsBasedModel();
    private final List<List<Variable>> choices = new ArrayList<>();

    Program(Sensitivities sensitivities, int totalBits) {
      this.sensitivities = sensitivities;
      // The solver's default tolerance accepts near-optimal solutions, and its threads race for
      // ties.
      model.options.integer(
          IntegerStrategy.newConfigurable()
              .withGapTolerance(NumberContext.of(12))
              .withParallelism(() -> 1));
      double unit = largest();
      Expression budget = model.newExpression("bits").upper(totalBits);
      for (int layer = 0; layer < sensitivities.layers(); layer++) {
        Expression one = model.newExpression("one width of layer " + layer).level(1);
        List<Variable> ofLayer = new ArrayList<>();
        for (int width : sensitivities.widths()) {
          Variable chosen =
              model
                  .newVariable("layer %d, %d bits".formatted(layer, width))
                  .binary()
                  .weight(sensitivities.of(layer, width) / unit);
          one.set(chosen, 1);
          budget.set(chosen, width);
          ofLayer.add(chosen);
        }
        choices.add(ofLayer);
      }
    }

    /** Normalizes losses, because they are small and tolerances expect numbers around one. */
    private double largest() {
      double largest = Double.MIN_NORMAL;
      for (int layer = 0; layer < sensitivities.layers(); layer++) {
        for (int width : sensitivities.widths()) {
          largest = Math.max(largest, sensitivities.of(layer, width));
        }
      }
      return largest;
    }

    LayerBitAllocation solve() {
      Optimisation.Result result = model.minimise();
      if (!result.getState().isOptimal()) {
        throw new IllegalStateException("no allocation was found: " + result.getState());
      }
      List<Integer> bits = choices.stream().map(this::chosen).toList();
      double sum = 0;
      for (int layer = 0; layer < bits.size(); layer++) {
        sum += sensitivities.of(layer, bits.get(layer));
      }
      return new LayerBitAllocation(bits, sum);
    }

    private int chosen(List<Variable> ofLayer) {
      for (int width = 0; width < ofLayer.size(); width++) {
        if (ofLayer.get(width).getValue().doubleValue() > 0.5) {
          return sensitivities.widths().get(width);
        }
      }
      throw new IllegalStateException("a layer was given no width");
    }
  }

  /** Returns the mean code bits per element over layers. */
  public double meanBits() {
    return bits.stream().mapToInt(Integer::intValue).average().orElseThrow();
  }
}
