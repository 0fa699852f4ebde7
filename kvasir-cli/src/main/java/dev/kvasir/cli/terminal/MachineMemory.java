package dev.kvasir.cli.terminal;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The memory of this machine or container. Java states it in a module that a small runtime does not
 * have, so this class asks the operating system.
 */
public final class MachineMemory {
  private static final Path MEMINFO = Path.of("/proc/meminfo");
  private static final Path CGROUP = Path.of("/sys/fs/cgroup");

  private MachineMemory() {}

  /** Returns the bytes that this process could use on an idle machine; empty if unknown. */
  public static OptionalLong total() {
    if (Files.isReadable(MEMINFO)) {
      return smaller(meminfo(lines(MEMINFO), "MemTotal"), limit(CGROUP));
    }
    return switch (system()) {
      case "mac" -> printed("/usr/sbin/sysctl", "-n", "hw.memsize");
      case "win" ->
          printed(
              "powershell",
              "-NoProfile",
              "-Command",
              "(Get-CimInstance Win32_ComputerSystem).TotalPhysicalMemory");
      default -> OptionalLong.empty();
    };
  }

  /** Returns the bytes that this process could use at the moment; empty if unknown. */
  public static OptionalLong available() {
    return Files.isReadable(MEMINFO)
        ? smaller(meminfo(lines(MEMINFO), "MemAvailable"), limit(CGROUP))
        : OptionalLong.empty();
  }

  private static String system() {
    return System.getProperty("os.name").toLowerCase(Locale.ROOT).substring(0, 3);
  }

  /** Returns an entry of the table that Linux keeps, which is in KiB. */
  static OptionalLong meminfo(List<String> lines, String name) {
    Pattern pattern = Pattern.compile(Pattern.quote(name) + ":\\s+(\\d+) kB");
    return lines.stream()
        .map(pattern::matcher)
        .filter(Matcher::matches)
        .mapToLong(found -> Long.parseLong(found.group(1)) << 10)
        .findFirst();
  }

  /** Returns the limit of a container, by either version of control groups. */
  static OptionalLong limit(Path groups) {
    for (String name : List.of("memory.max", "memory/memory.limit_in_bytes")) {
      Path file = groups.resolve(name);
      if (Files.isReadable(file)) {
        List<String> lines = lines(file);
        return lines.isEmpty() ? OptionalLong.empty() : number(lines.getFirst());
      }
    }
    return OptionalLong.empty();
  }

  private static OptionalLong smaller(OptionalLong a, OptionalLong b) {
    if (a.isEmpty() || b.isEmpty()) {
      return a.isEmpty() ? b : a;
    }
    return OptionalLong.of(Math.min(a.getAsLong(), b.getAsLong()));
  }

  /** Returns what a program of the system prints. */
  private static OptionalLong printed(String... command) {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      process.getOutputStream().close();
      return number(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      return OptionalLong.empty();
    }
  }

  /** Returns a number; empty for a word such as {@code max}. */
  private static OptionalLong number(String text) {
    String stripped = text.strip();
    return stripped.matches("\\d{1,18}")
        ? OptionalLong.of(Long.parseLong(stripped))
        : OptionalLong.empty();
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      return List.of();
    }
  }
}
