package dev.kvasir.lab.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

/** Parses SVG pictures for tests. */
final class Pictures {
  private Pictures() {}

  static Document parsed(String svg) throws Exception {
    assertThat(svg).doesNotContain("NaN", "Infinity");
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
  }

  static List<Element> all(Document picture, String name) {
    var found = picture.getElementsByTagName(name);
    return IntStream.range(0, found.getLength()).mapToObj(i -> (Element) found.item(i)).toList();
  }

  static List<String> texts(Document picture) {
    return all(picture, "text").stream().map(Element::getTextContent).toList();
  }

  static double number(Element element, String attribute) {
    return Double.parseDouble(element.getAttribute(attribute));
  }
}
