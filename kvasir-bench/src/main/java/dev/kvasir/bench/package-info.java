/**
 * The commands of {@code kvasir bench}, which {@link dev.kvasir.bench.BenchProvider} adds to the
 * command line. Contenders alternate within one run, and the commands print medians and ratios.
 *
 * <p>This is the top of the module graph: it uses the engine, the store, the server, the CUDA
 * backend and the command line.
 */
package dev.kvasir.bench;
