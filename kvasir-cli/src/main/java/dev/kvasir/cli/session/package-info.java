/**
 * The commands of {@code kvasir session}, and the folder of named sessions: {@link
 * dev.kvasir.cli.session.SessionFolder} and {@link dev.kvasir.cli.session.SessionEntry}. Uses
 * {@code cli.arguments}, {@code cli.terminal} and kvasir-core.
 */
package dev.kvasir.cli.session;
