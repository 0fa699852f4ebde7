/**
 * Services that the service loader finds: {@link QuantizationMethod}s, {@link EngineProvider}s for
 * other devices, {@link KernelProvider}s, {@link PrefixStoreProvider}s and {@link BundledModel}s.
 * Their parameters are types of {@code codec}, {@code kernel}, {@code page} and other packages,
 * which may change with each minor version.
 *
 * <p>It may use every package but {@code chat}.
 */
package dev.kvasir.spi;
