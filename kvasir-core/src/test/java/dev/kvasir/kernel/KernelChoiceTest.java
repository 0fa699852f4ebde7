package dev.kvasir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.KernelChoice.KernelRequest;
import dev.kvasir.spi.KernelProvider;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KernelChoiceTest {
  private static final String SERVICES = "META-INF/services/dev.kvasir.spi.KernelProvider";

  @TempDir Path folder;

  /** Kernels that only implement their name. */
  private static Kernels named(String name) {
    return (Kernels)
        Proxy.newProxyInstance(
            Kernels.class.getClassLoader(),
            new Class<?>[] {Kernels.class},
            (proxy, method, arguments) -> name);
  }

  /** A provider of kernels that can run. */
  public static final class AvailableProvider implements KernelProvider {
    @Override
    public String name() {
      return "willing";
    }

    @Override
    public Optional<String> unavailableReason() {
      return Optional.empty();
    }

    @Override
    public Kernels create() {
      return named("willing");
    }
  }

  /** A provider of kernels that cannot run here. */
  public static final class UnavailableProvider implements KernelProvider {
    @Override
    public String name() {
      return "refusing";
    }

    @Override
    public Optional<String> unavailableReason() {
      return Optional.of("a flag is missing; add --flag");
    }

    @Override
    public Kernels create() {
      throw new AssertionError("an unavailable provider is not used");
    }
  }

  @Test
  void withoutProvidersItIsScalarAndSaysWhy() {
    KernelChoice choice = KernelChoice.choose(Optional.empty());
    assertThat(choice.kernels()).isInstanceOf(ScalarKernels.class);
    assertThat(choice.reason()).isEqualTo("kvasir-native is not on the class path");
  }

  @Test
  void theProcessChoosesOnce() {
    assertThat(KernelChoice.ofThisProcess()).isSameAs(KernelChoice.ofThisProcess());
  }

  @Test
  void plainJavaCanBeRequestedThoughOthersAreAvailable() throws Exception {
    KernelChoice choice = choose("java", AvailableProvider.class);
    assertThat(choice.kernels()).isInstanceOf(ScalarKernels.class);
    assertThat(choice.reason()).isEqualTo("chosen because -Dkvasir.kernels=java was given");
  }

  @Test
  void theFirstThatCanRunIsTaken() throws Exception {
    KernelChoice choice = choose(null, UnavailableProvider.class, AvailableProvider.class);
    assertThat(choice.kernels().name()).isEqualTo("willing");
    assertThat(choice.reason()).isEqualTo("the fastest that can run here");
  }

  @Test
  void aRequestedProviderIsUsed() throws Exception {
    KernelChoice choice = choose("willing", UnavailableProvider.class, AvailableProvider.class);
    assertThat(choice.kernels().name()).isEqualTo("willing");
    assertThat(choice.reason()).isEqualTo("chosen because -Dkvasir.kernels=willing was given");
  }

  @Test
  void theFallbackReportsWhyAProviderIsUnavailable() throws Exception {
    KernelChoice choice = choose(null, UnavailableProvider.class);
    assertThat(choice.kernels()).isInstanceOf(ScalarKernels.class);
    assertThat(choice.reason()).isEqualTo("refusing refused: a flag is missing; add --flag");
  }

  @Test
  void requestingAnUnavailableProviderFailsWithItsReason() {
    assertThatThrownBy(() -> choose("refusing", AvailableProvider.class, UnavailableProvider.class))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "-Dkvasir.kernels=refusing cannot be had:"
                + " refusing refused: a flag is missing; add --flag");
  }

  @Test
  void requestingAnUnknownProviderFailsWithTheKnownOnes() {
    assertThatThrownBy(() -> choose("cuda", AvailableProvider.class, UnavailableProvider.class))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("-Dkvasir.kernels=cuda is unknown; known are java, willing, refusing");
    assertThatThrownBy(() -> choose(""))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("-Dkvasir.kernels= is unknown; known are java");
  }

  /** Chooses with these providers on the class path, in this order. */
  private KernelChoice choose(String requested, Class<?>... providers) throws IOException {
    StringBuilder names = new StringBuilder();
    for (Class<?> provider : providers) {
      names.append(provider.getName()).append('\n');
    }
    Path services = folder.resolve(SERVICES);
    Files.createDirectories(services.getParent());
    Files.writeString(services, names);
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    URL[] path = {folder.toUri().toURL()};
    try (URLClassLoader loader = new URLClassLoader(path, getClass().getClassLoader())) {
      thread.setContextClassLoader(loader);
      return KernelChoice.choose(
          Optional.ofNullable(requested)
              .map(name -> new KernelRequest(name, "-Dkvasir.kernels=" + name)));
    } finally {
      thread.setContextClassLoader(before);
    }
  }
}
