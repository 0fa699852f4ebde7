/**
 * The command {@code kvasir batch}, {@link dev.kvasir.cli.batch.Batch}. Uses {@code cli.arguments},
 * {@code cli.serve}, {@code cli.terminal} and kvasir-server.
 */
package dev.kvasir.cli.batch;
