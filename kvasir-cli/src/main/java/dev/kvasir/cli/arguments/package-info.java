/**
 * Options that several commands share, such as {@link dev.kvasir.cli.arguments.ModelArguments} and
 * {@link dev.kvasir.cli.arguments.LoadArguments}. {@link dev.kvasir.error.OptionValue} checks
 * values.
 *
 * <p>Uses {@code cli.terminal} and kvasir-core, and nothing of kvasir-lab.
 */
package dev.kvasir.cli.arguments;
