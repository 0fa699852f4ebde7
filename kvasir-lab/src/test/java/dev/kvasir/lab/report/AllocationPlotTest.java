package dev.kvasir.lab.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.lab.allocate.Sensitivities;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

class AllocationPlotTest {
  private static final Sensitivities SENSITIVITIES =
      new Sensitivities(
          List.of(2, 4),
          new double[][] {{3, 0.5}, {1, 0.25}, {2, 0.5}},
          new double[][] {{1, 0.5}, {1, 0.25}, {0, 0}},
          1);

  @Test
  void eachWidthHasABarAndTheChosenOneIsOpaque() throws Exception {
    String svg = AllocationPlot.of(SENSITIVITIES, List.of(4, 2, 2)).svg();
    Document picture = Pictures.parsed(svg);
    List<Element> bars = Pictures.all(picture, "rect");
    assertThat(bars)
        .extracting(bar -> bar.getAttribute("fill-opacity"))
        .containsExactly("0.3", "1", "1", "0.3", "1", "0.3");
    List<Double> heights = bars.stream().map(bar -> Pictures.number(bar, "height")).toList();
    assertThat(heights.get(0)).isBetween(200.0, 340.0);
    assertThat(heights.get(2)).isCloseTo(heights.get(0) / 2, within(0.1));
    assertThat(Pictures.texts(picture))
        .contains("2 bits", "4 bits", "layer, and the bits it was given");
  }

  @Test
  void labelsOfManyLayersDoNotTouch() throws Exception {
    double[][] keys = new double[80][2];
    Sensitivities many = new Sensitivities(List.of(2, 4), keys, keys, 1);
    List<Integer> widths = Collections.nCopies(80, 2);
    Document picture = Pictures.parsed(AllocationPlot.of(many, widths).svg());
    assertThat(Pictures.texts(picture)).contains("0", "3", "78").doesNotContain("77", "79");
  }

  @Test
  void missingWidthIsRejected() {
    assertThatThrownBy(() -> AllocationPlot.of(SENSITIVITIES, List.of(4, 2)))
        .hasMessage("2 widths for 3 layers");
  }
}
