/**
 * The command {@code kvasir serve}, {@link dev.kvasir.cli.serve.Serve}. Uses {@code cli.arguments},
 * {@code cli.terminal}, kvasir-server and kvasir-store.
 */
package dev.kvasir.cli.serve;
