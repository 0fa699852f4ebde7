package dev.kvasir.lab.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.lab.eval.Evaluation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {
  private static final String ATTACK = "</script><script>attack()</script><img onerror='a' x=\"";

  private static String html(Evaluation evaluation, Provenance provenance) {
    return new Report(evaluation, Optional.of(Examples.keyRanges()), provenance).html();
  }

  /** Returns the page without the scripts, which are the same in every report. */
  private static String ownPart(String html) {
    return html.substring(0, html.indexOf("<!--\nThe charts"));
  }

  @Test
  void valuesAndDetailsAreMarkup() {
    String page = ownPart(html(Examples.evaluation("small"), Examples.PROVENANCE));
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
    String page = ownPart(html(Examples.evaluation(ATTACK, ATTACK), provenance));
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
    assertThat(page).contains("default-src 'none'").contains("Apache ECharts\nCopyright");
    assertThat(ownPart(page)).doesNotContain(" src=", " href=", "url(", "@import");
  }
}
