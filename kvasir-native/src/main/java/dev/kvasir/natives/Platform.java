package dev.kvasir.natives;

import java.util.Locale;
import java.util.Optional;

/** An operating system and processor that a library is built for. */
enum Platform {
  LINUX_AARCH64("linux", "aarch64", "linux-aarch64.so"),
  LINUX_X86_64("linux", "x86_64", "linux-x86_64.so"),
  MACOS_AARCH64("macos", "aarch64", "macos-aarch64.dylib"),
  MACOS_X86_64("macos", "x86_64", "macos-x86_64.dylib"),
  WINDOWS_AARCH64("windows", "aarch64", "windows-aarch64.dll"),
  WINDOWS_X86_64("windows", "x86_64", "windows-x86_64.dll");

  private final String system;
  private final String processor;
  private final String library;

  Platform(String system, String processor, String library) {
    this.system = system;
    this.processor = processor;
    this.library = library;
  }

  /** Returns the name of the library file among this package's resources. */
  String library() {
    return library;
  }

  /** Returns the name of the library that protects mapped files; empty if there is none. */
  Optional<String> guardLibrary() {
    return system.equals("linux") ? Optional.of("guard/" + library) : Optional.empty();
  }

  /**
   * Returns the platform of this process.
   *
   * @throws NativeUnavailableException if there is no library for it
   */
  static Platform ofThisProcess() {
    return of(System.getProperty("os.name"), System.getProperty("os.arch"));
  }

  static Platform of(String osName, String osArch) {
    String name = osName.toLowerCase(Locale.ROOT);
    String system = name.startsWith("mac") ? "macos" : name.startsWith("win") ? "windows" : name;
    String processor =
        osArch.equals("amd64") ? "x86_64" : osArch.equals("arm64") ? "aarch64" : osArch;
    for (Platform platform : values()) {
      if (platform.system.equals(system) && platform.processor.equals(processor)) {
        return platform;
      }
    }
    throw new NativeUnavailableException(
        ("there is no library for %s on %s; tools/native/build makes them"
                + " for Linux, macOS and Windows on aarch64 and x86_64")
            .formatted(osName, osArch));
  }
}
