/**
 * Input and output at a terminal: {@link dev.kvasir.cli.terminal.Streams}, {@link
 * dev.kvasir.cli.terminal.Progress}, {@link dev.kvasir.cli.terminal.ErrorReporter} and the handling
 * of signals. Uses no other package of the command line and nothing of kvasir-lab.
 */
package dev.kvasir.cli.terminal;
