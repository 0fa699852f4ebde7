package dev.kvasir.lab.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

class ScatterPlotTest {
  @Test
  void everyPointIsDrawnWithinThePicture() throws Exception {
    String svg =
        new ScatterPlot("a < b & c", "x", "y")
            .points("some", List.of(new double[] {0, 0}, new double[] {12.5, 0.003}))
            .line("more", List.of(new double[] {3, 0.001}, new double[] {4, 0.002}))
            .svg();
    Document document =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
    var circles = document.getElementsByTagName("circle");
    assertThat(circles.getLength()).isEqualTo(4 + 2); // and one for each name
    for (int i = 0; i < circles.getLength(); i++) {
      Element circle = (Element) circles.item(i);
      assertThat(Double.parseDouble(circle.getAttribute("cx"))).isBetween(0.0, 640.0);
      assertThat(Double.parseDouble(circle.getAttribute("cy"))).isBetween(0.0, 420.0);
    }
    assertThat(svg).contains("a &lt; b &amp; c").doesNotContain("NaN");
  }
}
