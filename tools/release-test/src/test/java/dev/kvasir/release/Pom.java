package dev.kvasir.release;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.xpath.XPathExpressionException;
import javax.xml.xpath.XPathFactory;
import javax.xml.xpath.XPathNodes;
import org.w3c.dom.Document;
import org.xml.sax.SAXException;

/** The {@code pom.xml} of a folder of this repository. */
record Pom(String folder, Document document) {
  private static final Path REPOSITORY = Path.of("../..").toAbsolutePath().normalize();

  static Pom of(String folder) {
    Path file = REPOSITORY.resolve(folder).resolve("pom.xml");
    try {
      return new Pom(
          folder, DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile()));
    } catch (ParserConfigurationException | SAXException | IOException e) {
      throw new IllegalStateException(file.toString(), e);
    }
  }

  /** Returns the text of the first element at a path, or nothing. */
  String text(String path) {
    return texts(path).findFirst().orElse("");
  }

  Stream<String> texts(String path) {
    try {
      XPathNodes nodes =
          XPathFactory.newInstance()
              .newXPath()
              .evaluateExpression(path, document, XPathNodes.class);
      return StreamSupport.stream(nodes.spliterator(), false)
          .map(node -> node.getTextContent().strip());
    } catch (XPathExpressionException e) {
      throw new IllegalArgumentException(path, e);
    }
  }

  boolean isPublished() {
    return !text("/project/properties/maven.deploy.skip").equals("true");
  }

  boolean isInstalled() {
    return !text("/project/properties/maven.install.skip").equals("true");
  }

  /** Returns whether the build makes a jar or, for the BOM, installs the {@code pom.xml}. */
  boolean hasArtifact() {
    return text("/project/packaging").equals("pom")
        || Files.exists(REPOSITORY.resolve(folder).resolve("src/main"));
  }
}
