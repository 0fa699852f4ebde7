package dev.kvasir.natives;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Records the native calls of a test run to the file that {@value #PROPERTY} names; does nothing
 * without that property.
 */
public final class RecordingSession implements LauncherSessionListener {
  private static final String PROPERTY = "kvasir.native.record";

  private final String file = System.getProperty(PROPERTY);
  private final CallRecorder recorder = new CallRecorder();

  @Override
  public void launcherSessionOpened(LauncherSession session) {
    if (file == null) {
      return;
    }
    System.setProperty(
        NativeFunctions.WITHOUT_AMX, "true"); // check.c derives the AMX calls from the others
    try {
      recorder.install();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void launcherSessionClosed(LauncherSession session) {
    if (file == null) {
      return;
    }
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(Path.of(file)))) {
      recorder.write(out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
