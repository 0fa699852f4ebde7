package dev.kvasir.cuda.formats;

import dev.kvasir.codec.ColdBlockConfig;
import dev.kvasir.codec.latent.LatentQuantizationConfig;
import java.util.List;
import java.util.ServiceLoader;
import java.util.ServiceLoader.Provider;
import java.util.stream.Collectors;

/**
 * All methods with a page format: every {@link PageFormatProvider} named in a file {@code
 * META-INF/services/dev.kvasir.cuda.formats.PageFormatProvider} on the class path, in the order of
 * the file. To support a method on a device, provide its package and a line in such a file.
 */
final class PageFormatRegistry {
  private static final class Holder {
    static final List<PageFormatProvider> ALL =
        ServiceLoader.load(PageFormatProvider.class, PageFormatProvider.class.getClassLoader())
            .stream()
            .map(Provider::get)
            .toList();
  }

  private PageFormatRegistry() {}

  static List<PageFormatProvider> all() {
    return Holder.ALL;
  }

  /**
   * @throws dev.kvasir.cuda.driver.DeviceException if there are no kernels for the cache
   */
  static DeviceCacheConfig cacheConfig(FormatRequest request) {
    String name = request.text().name();
    PageFormatProvider provider =
        all().stream()
            .filter(each -> each.method().equals(name))
            .findFirst()
            .orElseThrow(() -> request.unsupported("is not supported on a device; " + expected()));
    rejectSharedKeys(request);
    return provider.cacheConfig(request);
  }

  private static String expected() {
    List<String> names = all().stream().map(PageFormatProvider::method).toList();
    String allButLast = names.stream().limit(names.size() - 1).collect(Collectors.joining(", "));
    return "expected %s or %s there, or --device cpu".formatted(allButLast, names.getLast());
  }

  /** Rejects keys that all methods share. */
  private static void rejectSharedKeys(FormatRequest request) {
    if (request.text().has(LatentQuantizationConfig.KEY)) {
      throw request.unsupported(
          "has a width for rotary channels of latent keys; a device has no latent keys");
    }
    if (request.text().has(ColdBlockConfig.KEY)) {
      throw request.unsupported(
          "stores cold blocks with fewer bits; a device stores its blocks as they are");
    }
  }
}
