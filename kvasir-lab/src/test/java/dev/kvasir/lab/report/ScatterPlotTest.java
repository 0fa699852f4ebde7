package dev.kvasir.lab.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;

class ScatterPlotTest {
  @Test
  void everyPointIsDrawnWithinThePicture() throws Exception {
    String svg =
        new ScatterPlot("a < b & c", "x", "y")
            .points("some", List.of(new double[] {0, 0}, new double[] {12.5, 0.003}))
            .line("more", List.of(new double[] {3, 0.001}, new double[] {4, 0.002}))
            .svg();
    List<Element> circles = Pictures.all(Pictures.parsed(svg), "circle");
    assertThat(circles).hasSize(4 + 2); // and one for each name
    for (Element circle : circles) {
      assertThat(Pictures.number(circle, "cx")).isBetween(0.0, 640.0);
      assertThat(Pictures.number(circle, "cy")).isBetween(0.0, 420.0);
    }
    assertThat(svg).contains("a &lt; b &amp; c");
  }
}
