package dev.kvasir.hub;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** Decides which names of a server may become files: none that leads out of its folder. */
final class SafePath {
  private static final int MAX_CHARACTERS = 512;
  private static final Pattern PART = Pattern.compile("[^\\p{Cntrl}/\\\\:*?\"<>|]{1,255}");
  private static final Set<String> WINDOWS_DEVICES = Set.of("con", "prn", "aux", "nul");

  private SafePath() {}

  /** Returns whether a path with slashes stays inside of the folder that it is resolved against. */
  static boolean isRelative(String path) {
    if (path.isEmpty() || path.length() > MAX_CHARACTERS) {
      return false;
    }
    for (String part : path.split("/", -1)) {
      if (!isName(part)) {
        return false;
      }
    }
    return true;
  }

  /** Returns whether a name is that of one file on every system. */
  static boolean isName(String name) {
    String stem = name.toLowerCase(Locale.ROOT).replaceFirst("\\..*", "");
    return PART.matcher(name).matches()
        && !name.equals(".")
        && !name.equals("..")
        && !name.endsWith(".")
        && !name.endsWith(" ")
        && !WINDOWS_DEVICES.contains(stem);
  }

  /** Resolves a path with slashes, whatever separator the system has. */
  static Path resolve(Path folder, String path) {
    Path result = folder;
    for (String part : path.split("/")) {
      result = result.resolve(part);
    }
    return result;
  }
}
