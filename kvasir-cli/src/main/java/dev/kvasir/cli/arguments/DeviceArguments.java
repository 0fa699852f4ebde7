package dev.kvasir.cli.arguments;

import dev.kvasir.LoadOptions.Device;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.OptionValue;
import dev.kvasir.format.SafetensorsFolder;
import dev.kvasir.format.TensorSource;
import dev.kvasir.runtime.DeviceChoice;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.spi.EngineProvider;
import dev.kvasir.spi.EngineProvider.DeviceDescription;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.ServiceLoader;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Option;

/** The device that a model computes on. */
public final class DeviceArguments {
  private static final Pattern NUMBERED = Pattern.compile("cuda:(\\d{1,3})");
  private static final Pattern SEVERAL = Pattern.compile("cuda:\\d{1,3}(,cuda:\\d{1,3})+");

  @Option(
      names = "--device",
      paramLabel = "DEVICE",
      defaultValue = "cpu",
      description =
          "Where to compute: cpu; cuda, an NVIDIA GPU, or cuda:N, the GPU with that number, which"
              + " support some of the models and caches; cuda:0,cuda:1, several GPUs with"
              + " consecutive layers each; or auto, the first GPU if it supports the request,"
              + " else the CPU. What is saved or stored continues on a GPU only if cuda"
              + " is named, with fp16, kivi or kvtuner. Default: ${DEFAULT-VALUE}.")
  private String device;

  /**
   * @param kinds of caches that will be requested
   */
  public DeviceChoice choice(List<CacheSpec> kinds) {
    return new DeviceChoice(requestedDevice(), kinds);
  }

  private Device requestedDevice() {
    Matcher numbered = NUMBERED.matcher(device);
    if (numbered.matches() || SEVERAL.matcher(device).matches()) {
      return Device.cuda(
          numbered.reset().results().map(each -> Integer.parseInt(each.group(1))).toList());
    }
    if (device.contains(",")) {
      throw new InvalidInputException(
          "--device is '%s'; several are GPUs with their numbers, such as cuda:0,cuda:1"
              .formatted(device));
    }
    return new Device(OptionValue.oneOf("--device", device, Device.Kind.class), 0);
  }

  /**
   * Returns the device of sequences that are stored: the CPU unless a GPU is named.
   *
   * @param kinds of caches that will be requested
   * @throws InvalidInputException if the GPU cannot store sequences of one of them
   */
  public DeviceChoice choiceWithStorage(List<CacheSpec> kinds) {
    return choice(kinds).storing();
  }

  /**
   * Rejects a GPU.
   *
   * @param option that needs the CPU
   */
  public void requireProcessor(String option) {
    if (requestedDevice().kind() == Device.Kind.CUDA) {
      throw new InvalidInputException(
          "--device is %s; with %s expected cpu".formatted(device, option));
    }
  }

  /**
   * Returns which caches the requested device supports for a model.
   *
   * @param stores whether sequences are stored
   */
  public Predicate<CacheSpec> supportedCaches(
      ModelArguments model, ModelOutline outline, boolean stores) {
    Device requested = requestedDevice();
    Optional<EngineProvider> provider = availableProvider();
    if (requested.equals(Device.CPU)
        || stores && requested.equals(Device.AUTO)
        || provider.isEmpty()) {
      return any -> true;
    }
    Predicate<CacheSpec> supported =
        spec -> isSupported(spec, provider.get(), requested, model, outline);
    return stores ? supported.and(spec -> isStorable(spec, provider.get())) : supported;
  }

  private static Optional<EngineProvider> availableProvider() {
    return ServiceLoader.load(EngineProvider.class).stream()
        .map(ServiceLoader.Provider::get)
        .filter(each -> each.unavailableReason().isEmpty())
        .findFirst();
  }

  /** Returns the memory of the GPUs that are named; empty if none are, or they are not there. */
  public OptionalLong memoryBytes() {
    Device requested = requestedDevice();
    return requested.kind() == Device.Kind.CUDA
        ? memoryBytes(
            requested.numbers(), availableProvider().map(EngineProvider::devices).orElse(List.of()))
        : OptionalLong.empty();
  }

  /** Returns the memory of some devices, each counted once. */
  static OptionalLong memoryBytes(List<Integer> numbers, List<DeviceDescription> devices) {
    List<Integer> distinct = numbers.stream().distinct().toList();
    return distinct.stream().allMatch(number -> number < devices.size())
        ? OptionalLong.of(
            distinct.stream().mapToLong(number -> devices.get(number).memoryBytes()).sum())
        : OptionalLong.empty();
  }

  private static boolean isStorable(CacheSpec spec, EngineProvider provider) {
    try {
      provider.requireStorable(spec);
      return true;
    } catch (InvalidInputException e) {
      return false;
    }
  }

  private static boolean isSupported(
      CacheSpec spec,
      EngineProvider provider,
      Device device,
      ModelArguments model,
      ModelOutline outline) {
    try (TensorSource file =
        model.isFolder() ? SafetensorsFolder.open(model.path()) : model.openGguf()) {
      provider.check(
          new EngineProvider.LoadRequest(
              file,
              outline.config(),
              device.numbers(),
              List.of(spec),
              Long.MAX_VALUE,
              (done, inAll) -> {}));
      return true;
    } catch (InvalidInputException e) {
      return false;
    }
  }

  /** Prints the device of a model if it was chosen automatically. */
  public void report(LoadedModel model, Streams streams) {
    if (requestedDevice().equals(Device.AUTO)) {
      streams.note("computes on %s".formatted(model.device()));
    }
  }
}
