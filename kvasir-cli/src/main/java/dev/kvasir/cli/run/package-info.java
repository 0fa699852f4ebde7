/**
 * Commands that run or inspect a model: {@link dev.kvasir.cli.run.Generate}, {@link
 * dev.kvasir.cli.run.Chat}, {@link dev.kvasir.cli.run.Inspect}, {@link
 * dev.kvasir.cli.run.Tokenize}, {@link dev.kvasir.cli.run.Render} and {@link
 * dev.kvasir.cli.run.Roundtrip}.
 *
 * <p>Uses {@code cli.arguments}, {@code cli.terminal} and {@code cli.session}, and of kvasir-lab
 * the round trip and the plots.
 */
package dev.kvasir.cli.run;
