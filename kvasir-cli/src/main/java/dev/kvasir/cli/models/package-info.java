/**
 * The commands that manage downloaded models: {@code kvasir pull}, {@code list} and {@code rm}.
 * Uses {@code cli.arguments}, {@code cli.terminal} and kvasir-core.
 */
package dev.kvasir.cli.models;
