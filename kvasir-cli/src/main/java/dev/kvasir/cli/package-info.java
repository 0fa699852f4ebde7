/**
 * The {@code kvasir} command line. {@link dev.kvasir.cli.Main} is the entry point, and {@code
 * Subcommand} lists the commands of this module. Other modules add theirs through {@link
 * dev.kvasir.cli.CommandProvider}.
 *
 * <p>This package uses all packages below it; none of them uses this one.
 */
package dev.kvasir.cli;
