package dev.kvasir.lab.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.Row;
import dev.kvasir.lab.eval.Task;
import dev.kvasir.lab.report.Report.PageTemplate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

class ReportTest {
  private static final String ATTACK = "</script><script>attack()</script><img onerror='a' x=\"";

  private static String html(Evaluation evaluation, Provenance provenance) {
    return new Report(evaluation, Optional.of(Examples.keyRanges()), provenance).html();
  }

  @Test
  void valuesAndDetailsAreMarkup() {
    String page = html(Examples.evaluation("small"), Examples.PROVENANCE);
    assertThat(page)
        .contains("<h1>small</h1>", "5 kinds of KV cache, down to 2.5 bits per value")
        .contains("<th scope=\"row\">kivi:2,<wbr>group=32</th>", "<td data-label=\"ppl\">")
        .contains("<dd>2026-01-02 03:04 UTC</dd>", "<code>kvasir eval --report r.html</code>")
        .contains("the bundled text, up to 8,000 tokens", "1,000 / 4,000 / 8,000 tokens")
        .doesNotContain("{{", "interrupted");
  }

  @Test
  void namesAreEscapedEverywhere() {
    Provenance provenance =
        new Provenance(ATTACK, ATTACK, Optional.of(ATTACK), Examples.PROVENANCE.when());
    String page = html(Examples.evaluation(ATTACK, ATTACK), provenance);
    assertThat(page).doesNotContain("<script>", "<img").contains("&lt;script&gt;attack()");
    assertThat(Pattern.compile("</script").matcher(page).results().count()).isEqualTo(1);
  }

  @Test
  void placeholdersInInsertedTextAreLeftAlone() {
    assertThat(PageTemplate.fill("{{a}} {{b}}", Map.of("a", "{{b}} $1", "b", "x")))
        .isEqualTo("{{b}} $1 x");
  }

  @Test
  void allValuesAreIncluded() {
    String page = html(Examples.evaluation("small", ATTACK), Examples.PROVENANCE);
    String start = "<script type=\"application/json\" id=\"data\">";
    int from = page.indexOf(start) + start.length();
    String json = page.substring(from, page.indexOf("</script>", from));
    JsonObject data = JsonParser.parseString(json).getAsJsonObject();
    List<String> specs =
        data.getAsJsonObject("evaluation").getAsJsonArray("rows").asList().stream()
            .map(row -> row.getAsJsonObject().get("spec").getAsString())
            .toList();
    assertThat(specs).startsWith("fp16").endsWith(ATTACK);
    assertThat(data.getAsJsonObject("keyRanges").getAsJsonArray("ranges").size()).isEqualTo(8);
  }

  @Test
  void cancellationIsReported() {
    Evaluation whole = Examples.evaluation("small");
    Evaluation part =
        new Evaluation(
            whole.model(), whole.settings(), whole.text(), whole.machine(), false, whole.rows());
    assertThat(html(part, Examples.PROVENANCE)).contains("was interrupted");
  }

  @Test
  void reportIsASelfContainedFile(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("report.html");
    new Report(Examples.evaluation("small"), Optional.empty(), Examples.PROVENANCE).write(file);
    String page = Files.readString(file);
    assertThat(page)
        .contains("default-src 'none'; style-src 'unsafe-inline'\"")
        .doesNotContain("<script>", " src=", " href=", "url(", "@import", "{{");
  }

  /** Charts of the example: six tasks, one line, two grids of six rows, bytes, two KV heads. */
  @Test
  void everyChartIsDrawnWithItsTextInside() throws Exception {
    String spec = "kivi:3,group=32,window=256,sinks=4,".repeat(3);
    List<String> charts = charts(html(Examples.evaluation("small", spec), Examples.PROVENANCE));
    assertThat(charts).hasSize(6 + 1 + 2 * 6 + 1 + 2);
    for (String chart : charts) {
      Document picture = Pictures.parsed(chart);
      String[] box = picture.getDocumentElement().getAttribute("viewBox").split(" ");
      assertThat(Pictures.all(picture, "path").size() + Pictures.all(picture, "rect").size())
          .isGreaterThan(4);
      for (Element text : Pictures.all(picture, "text")) {
        double width = 6.7 * text.getTextContent().length();
        double x = Pictures.number(text, "x");
        double left =
            switch (text.getAttribute("text-anchor")) {
              case "start" -> x;
              case "middle" -> x - width / 2;
              default -> x - width;
            };
        assertThat(left).as(text.getTextContent()).isGreaterThanOrEqualTo(0);
        assertThat(left + width)
            .as(text.getTextContent())
            .isLessThanOrEqualTo(Double.parseDouble(box[2]));
        assertThat(Pictures.number(text, "y")).isBetween(9.0, Double.parseDouble(box[3]) - 3);
      }
    }
  }

  private static List<String> charts(String page) {
    return Pattern.compile("<svg xmlns.*?</svg>", Pattern.DOTALL)
        .matcher(page)
        .results()
        .map(MatchResult::group)
        .toList();
  }

  @Test
  void marksTellWhatTheyShow() {
    assertThat(html(Examples.evaluation("small"), Examples.PROVENANCE))
        .contains("<title>kivi:2\n24, 95 %: 22.3 to 25.9\n2.50 bits per value</title>")
        .contains("<title>4 of 4 right\n1,000 tokens, depth 0–20 %</title>")
        .contains("<title>layer 7, channel 63\nrange ")
        .contains("<title>up to token 384\nkivi:2: ");
  }

  @Test
  void unmeasuredTasksHaveNoSection() {
    Evaluation whole = Examples.evaluation("small");
    Row reference = whole.rows().getFirst();
    Row begun =
        new Row(
            "kivi:2",
            whole.rows().get(2).footprint(),
            Map.of(Task.PPL, whole.rows().get(2).scores().get(Task.PPL)),
            Map.of());
    for (List<Row> rows : List.of(List.of(reference), List.of(reference, begun))) {
      Evaluation part =
          new Evaluation("small", whole.settings(), whole.text(), whole.machine(), false, rows);
      String page = new Report(part, Optional.empty(), Examples.PROVENANCE).html();
      // fp16 has no divergence from itself, and no other row has one yet.
      assertThat(page).contains("id=\"quality\"").doesNotContain("id=\"along\"", "id=\"keys\"");
    }
  }
}
