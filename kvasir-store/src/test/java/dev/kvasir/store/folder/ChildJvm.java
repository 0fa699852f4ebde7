package dev.kvasir.store.folder;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** A process with the classes of this one except Jedis, which a folder does not need. */
final class ChildJvm {
  private ChildJvm() {}

  static Process start(Class<?> main, Object... arguments) throws IOException {
    return new ProcessBuilder(command(main, arguments))
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  static List<String> command(Class<?> main, Object... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:-UsePerfData",
                "-cp",
                classPath(),
                main.getName()));
    Arrays.stream(arguments).map(Object::toString).forEach(command::add);
    return command;
  }

  private static String classPath() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(entry -> !entry.contains("jedis"))
        .collect(Collectors.joining(File.pathSeparator));
  }
}
