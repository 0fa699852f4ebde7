package dev.kvasir.cli.arguments;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.choice.CacheChoice;
import dev.kvasir.choice.CacheFigures;
import dev.kvasir.choice.ChoiceRequest;
import dev.kvasir.choice.UserFolder;
import dev.kvasir.cli.terminal.MachineMemory;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.engine.Request;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.profile.Profile;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The choice of {@code --kv auto}.
 *
 * @param outline the model
 * @param profile its calibration profile
 * @param supports whether the device supports a cache
 * @param deviceBytes returns the memory of the device, empty if that is the machine's; asked only
 *     where no memory is given, since a driver must start for it
 */
public record AutoCache(
    ModelOutline outline,
    Optional<Profile> profile,
    Predicate<CacheSpec> supports,
    Supplier<OptionalLong> deviceBytes) {

  public static boolean isAuto(String spec) {
    return spec.equals(CacheChoice.AUTO);
  }

  /**
   * Chooses a cache.
   *
   * @param tokens the longest context
   * @param memoryBytes memory for one sequence; empty for half of what the weights leave of the
   *     device's memory
   * @param draftBytes what the cache of a draft model takes of it
   */
  public CacheChoice choose(int tokens, OptionalLong memoryBytes, long draftBytes) {
    long memory = Math.max(0, memoryBytes.orElseGet(this::defaultMemory) - draftBytes);
    try (ModelTables tables = new ModelTables()) {
      ChoiceRequest request =
          new ChoiceRequest(
              outline.config().cacheShape(),
              outline.cacheContext(profile, tables),
              tokens,
              Request.PREFILL_STEP,
              memory,
              supports);
      return CacheChoice.choose(
          request,
          CacheFigures.ofModel(
              outline.fingerprint(),
              outline.config().architecture().identifier(),
              UserFolder.ofThisProcess()));
    } catch (InvalidInputException e) {
      throw draftBytes == 0
          ? e
          : new InvalidInputException(
              "%s; the cache of the draft model takes %s of the memory"
                  .formatted(e.getMessage(), Units.bytes(draftBytes)));
    }
  }

  private long defaultMemory() {
    OptionalLong ofDevice = deviceBytes.get();
    OptionalLong total = ofDevice.isPresent() ? ofDevice : MachineMemory.total();
    if (total.isEmpty()) {
      throw new InvalidInputException(
          "--kv is auto and the memory of this machine is unknown; expected --kv-memory SIZE");
    }
    return Math.max(0, total.getAsLong() - outline.weightBytes()) / 2;
  }

  /** Prints what was chosen, and why. */
  public static void report(CacheChoice choice, Streams streams) {
    streams.note("--kv auto chose %s: %s".formatted(choice.spec(), choice.reason()));
  }
}
