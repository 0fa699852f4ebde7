/**
 * Commands of the lab: {@link dev.kvasir.cli.lab.Eval} and {@link dev.kvasir.cli.lab.Compare}
 * measure kinds of cache. {@link dev.kvasir.cli.lab.Calibrate} and {@link dev.kvasir.cli.lab.Tune}
 * write profiles, and the {@code Show} commands print analyses.
 *
 * <p>Uses {@code cli.arguments}, {@code cli.terminal} and {@code cli.origin}, and kvasir-lab for
 * the work.
 */
package dev.kvasir.cli.lab;
