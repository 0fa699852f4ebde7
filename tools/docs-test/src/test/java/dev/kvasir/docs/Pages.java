package dev.kvasir.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The Markdown files of the root and of docs/. */
final class Pages {
  static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

  private Pages() {}

  static List<MarkdownPage> all() throws IOException {
    List<Path> paths = new ArrayList<>();
    try (Stream<Path> root = Files.list(ROOT);
        Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
      Stream.concat(root, docs).filter(path -> path.toString().endsWith(".md")).forEach(paths::add);
    }
    List<MarkdownPage> pages = new ArrayList<>();
    for (Path path : paths.stream().sorted().toList()) {
      pages.add(read(path));
    }
    return pages;
  }

  static MarkdownPage read(Path path) throws IOException {
    String name = ROOT.relativize(path).toString().replace('\\', '/');
    return new MarkdownPage(name, Files.readString(path));
  }
}
