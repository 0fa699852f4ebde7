package dev.kvasir.format;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * Memory-maps resources, from a file or from an uncompressed jar entry. Other resources are copied
 * to the heap. Copying tens of megabytes would add a tenth to the startup time.
 */
public final class ResourceBytes {
  private static final String SEPARATOR = "!/";

  private ResourceBytes() {}

  /** Returns the bytes, mapped for the lifetime of the arena or on the heap. */
  public static MemorySegment of(URL resource, Arena arena) {
    try {
      Optional<MemorySegment> mapped = mapped(resource, arena);
      return mapped.isPresent() ? mapped.get() : read(resource);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Optional<MemorySegment> mapped(URL resource, Arena arena) throws IOException {
    String text = resource.toString();
    int end = text.indexOf(SEPARATOR);
    if (text.startsWith("file:")) {
      return Optional.of(map(text, arena));
    }
    if (!text.startsWith("jar:file:") || end < 0) {
      return Optional.empty();
    }
    String entry = text.substring(end + SEPARATOR.length());
    MemorySegment jar = map(text.substring("jar:".length(), end), arena);
    return new ZipStoredEntries(jar).find(entry.getBytes(StandardCharsets.UTF_8));
  }

  private static MemorySegment map(String uri, Arena arena) throws IOException {
    try (FileChannel channel = FileChannel.open(Path.of(new URI(uri)), StandardOpenOption.READ)) {
      return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
    } catch (URISyntaxException | IllegalArgumentException e) {
      throw new IOException("%s cannot be mapped: %s".formatted(uri, e.getMessage()), e);
    }
  }

  private static MemorySegment read(URL resource) throws IOException {
    try (InputStream stream = resource.openStream()) {
      return MemorySegment.ofArray(stream.readAllBytes());
    }
  }
}
