package dev.kvasir.format;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Checks the memory mappings of this process on Linux; elsewhere the calling test is skipped. */
public final class Mappings {
  private static final Path MAPS = Path.of("/proc/self/maps");

  private Mappings() {}

  public static boolean hold(Path file) throws IOException {
    assumeTrue(Files.isReadable(MAPS), "only Linux lists the mappings of a process");
    String path = file.toRealPath().toString();
    return Files.readAllLines(MAPS).stream().anyMatch(line -> line.endsWith(path));
  }
}
