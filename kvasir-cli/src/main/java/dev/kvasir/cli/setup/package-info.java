/**
 * First contact: {@link dev.kvasir.cli.setup.Doctor} checks the machine, {@link
 * dev.kvasir.cli.setup.Caches} lists the caches, {@link dev.kvasir.cli.setup.Completion} prints
 * completion scripts for shells, and {@link dev.kvasir.cli.setup.Welcome} is what {@code kvasir}
 * prints without arguments.
 *
 * <p>Uses {@code cli.terminal}, {@code cli.arguments} for the list of caches, {@code cli.session}
 * for the folder of sessions, and kvasir-core.
 */
package dev.kvasir.cli.setup;
