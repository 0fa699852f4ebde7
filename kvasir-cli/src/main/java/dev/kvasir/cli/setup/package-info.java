/**
 * First contact with a machine: {@link dev.kvasir.cli.setup.Doctor} checks it, {@link
 * dev.kvasir.cli.setup.Completion} prints completion scripts for shells, and {@link
 * dev.kvasir.cli.setup.Welcome} is what {@code kvasir} prints without arguments.
 *
 * <p>Uses {@code cli.terminal}, {@code cli.session} for the folder of sessions, and kvasir-core.
 */
package dev.kvasir.cli.setup;
