package dev.kvasir.cli.setup;

import dev.kvasir.choice.UserFolder;
import dev.kvasir.cli.session.SessionFolder;
import dev.kvasir.cli.terminal.MachineMemory;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.hub.HubSettings;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.runtime.BundledFiles;
import dev.kvasir.spi.EngineProvider;
import dev.kvasir.spi.EngineProvider.DeviceDescription;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.ServiceLoader;
import java.util.stream.Collectors;

/** What {@link Doctor} checks. */
final class MachineChecks {
  /** Memory for a model of a billion parameters with four bits each, and its cache. */
  private static final long LEAST_MEMORY = 2L << 30;

  /** Disk space for a few saved conversations. */
  private static final long LEAST_DISK = 1L << 30;

  /** Names the folder of what Kvasir keeps for a user. */
  static final String HOME_VARIABLE = "KVASIR_HOME";

  private MachineChecks() {}

  static List<Check> all() {
    List<Check> checks = new ArrayList<>();
    checks.add(java());
    checks.add(processors());
    checks.add(kernels());
    checks.add(gpu());
    checks.add(memory(MachineMemory.total(), MachineMemory.available()));
    checks.add(pageSize());
    checks.add(bundledModel());
    checks.add(downloads());
    checks.add(folder("sessions", SessionFolder.ofUser().path(), HOME_VARIABLE));
    checks.add(folder("figures", UserFolder.ofThisProcess().comparisons(), HOME_VARIABLE));
    return checks;
  }

  private static Check java() {
    return Check.ok(
        "Java", "%s, %s".formatted(Runtime.version(), System.getProperty("java.vm.name")));
  }

  private static Check processors() {
    int count = Runtime.getRuntime().availableProcessors();
    return Check.of(
        "processors",
        "%d, %s on %s"
            .formatted(count, System.getProperty("os.arch"), System.getProperty("os.name")),
        count == 1,
        "a model computes on all processors; give this process more than one");
  }

  /** Kernels with integer dot products compute on packed bits in one instruction. */
  private static Check kernels() {
    try {
      KernelChoice choice = KernelChoice.ofThisProcess();
      String name = choice.kernels().name();
      if (!name.startsWith("native")) {
        return Check.warning(
            "kernels",
            "%s, the slowest kind: %s".formatted(name, choice.reason()),
            "native kernels are many times as fast; check the reason above and KVASIR_KERNELS");
      }
      boolean hasDots = name.contains("VNNI") || name.contains("dot");
      return Check.ok(
          "kernels",
          "%s, %s"
              .formatted(
                  name,
                  hasDots
                      ? "the fastest kind, with integer dot products"
                      : "fast, without integer dot products"));
    } catch (InvalidInputException e) {
      return Check.warning(
          "kernels", e.getMessage(), "unset KVASIR_KERNELS and the property kvasir.kernels");
    }
  }

  private static Check gpu() {
    Optional<EngineProvider> provider =
        ServiceLoader.load(EngineProvider.class).stream()
            .map(ServiceLoader.Provider::get)
            .findFirst();
    if (provider.isEmpty()) {
      return Check.ok("GPU", "not used: the module kvasir-cuda is not on the class path");
    }
    return provider
        .get()
        .unavailableReason()
        .map(reason -> Check.ok("GPU", "not used: " + reason))
        .orElseGet(() -> gpus(provider.get().devices()));
  }

  static Check gpus(List<DeviceDescription> gpus) {
    String all =
        gpus.stream()
            .map(gpu -> "%s with %s".formatted(gpu.name(), Units.bytes(gpu.memoryBytes())))
            .collect(Collectors.joining(", "));
    String use =
        gpus.size() > 1
            ? "--device auto uses the first, cuda:0,cuda:1 divides a model over two"
            : "--device auto uses it where it can";
    return Check.ok("GPU", "%s; %s".formatted(all, use));
  }

  static Check memory(OptionalLong total, OptionalLong available) {
    if (total.isEmpty()) {
      return Check.ok("memory", "its size is unknown on this system");
    }
    long free = available.orElse(total.getAsLong());
    return Check.of(
        "memory",
        "%s free of %s, Java's heap may take %s"
            .formatted(
                Units.bytes(free),
                Units.bytes(total.getAsLong()),
                Units.bytes(Runtime.getRuntime().maxMemory())),
        free < LEAST_MEMORY,
        "weights and KV cache are outside of the heap; choose a small model, or --kv kivi:4");
  }

  private static Check pageSize() {
    OptionalLong bytes = SystemPage.bytes();
    return Check.ok(
        "page size", bytes.isPresent() ? Units.bytes(bytes.getAsLong()) : "unknown on this system");
  }

  private static Check bundledModel() {
    try (GgufFile file = BundledFiles.open()) {
      return Check.ok("model", "%s is bundled".formatted(file.name()));
    } catch (InvalidInputException e) {
      return Check.warning("model", "none is bundled", "give one with --model FILE");
    }
  }

  /** Checks the cache of models that are downloaded by name. */
  private static Check downloads() {
    try {
      return folder("downloads", HubSettings.ofThisProcess().cache(), "HF_HOME");
    } catch (InvalidInputException e) {
      return Check.warning("downloads", e.getMessage(), "unset or correct that variable");
    }
  }

  /**
   * Checks a folder that may not exist yet, and the disk that holds it.
   *
   * @param variable names another folder
   */
  static Check folder(String subject, Path folder, String variable) {
    Path existing = folder.toAbsolutePath();
    while (existing != null && !Files.exists(existing)) {
      existing = existing.getParent();
    }
    if (existing == null || !Files.isDirectory(existing) || !Files.isWritable(existing)) {
      return Check.warning(
          subject,
          "%s cannot be written".formatted(folder),
          "make it writable, or set %s to another folder".formatted(variable));
    }
    try {
      long free = Files.getFileStore(existing).getUsableSpace();
      return Check.of(
          subject,
          "%s%s, %s free on its disk"
              .formatted(
                  folder, Files.exists(folder) ? "" : " (made when needed)", Units.bytes(free)),
          free < LEAST_DISK,
          "free some disk space, or set %s to a folder on another disk".formatted(variable));
    } catch (IOException e) {
      return Check.ok(subject, "%s, on a disk of unknown size".formatted(folder));
    }
  }
}
