package dev.kvasir.lab.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

class GrowthPlotTest {
  private static final CacheShape SHAPE = new CacheShape(8, 2, 64);

  private static Document plot(String spec, int tokens) throws Exception {
    CacheContext context = CacheContext.unknown().withContextLimit(tokens);
    return Pictures.parsed(new GrowthPlot(CacheSpec.parse(spec), SHAPE, context).svg());
  }

  @Test
  void budgetIsNeverExceededAndCodesOnlyGetNarrower() throws Exception {
    Document picture = plot("pmkvq:2,budget=6MiB", 8000);
    assertThat(Pictures.texts(picture)).containsSubsequence("2", "4", "8", "16");
    double budget = Pictures.number(dashed(picture).getLast(), "y1");
    String[] places =
        Pictures.all(picture, "polyline").getFirst().getAttribute("points").split(" ");
    assertThat(places).hasSize(500);
    assertThat(places)
        .allSatisfy(
            place ->
                assertThat(Double.parseDouble(place.split(",")[1])).isGreaterThanOrEqualTo(budget));
    List<Double> bits =
        Arrays.stream(Pictures.all(picture, "polyline").getLast().getAttribute("points").split(" "))
            .map(place -> Double.parseDouble(place.split(",")[1]))
            .toList();
    assertThat(bits).isSorted().hasSizeGreaterThan(400);
  }

  private static List<Element> dashed(Document picture) {
    return Pictures.all(picture, "line").stream()
        .filter(line -> line.hasAttribute("stroke-dasharray"))
        .toList();
  }

  @Test
  void cacheWithoutABudgetGrowsNextToFp16() throws Exception {
    Document picture = plot("kivi:2", 300);
    assertThat(dashed(picture)).hasSize(1);
    assertThat(Pictures.texts(picture)).contains("kivi:2 while a text grows", "fp16");
  }
}
