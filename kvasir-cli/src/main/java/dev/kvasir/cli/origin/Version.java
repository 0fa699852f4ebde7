package dev.kvasir.cli.origin;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** The version that the build wrote into the jar, and the Java version. */
public final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    return new String[] {"kvasir %s (Java %s)".formatted(ofKvasir(), Runtime.version())};
  }

  static String ofKvasir() {
    Properties properties = new Properties();
    try (InputStream stream = Version.class.getResourceAsStream("version.properties")) {
      properties.load(stream);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return properties.getProperty("version");
  }
}
